// Integer and bit instructions of the vector ALU: one row an instruction.
//
// Sources: CDNA3 and CDNA4 instruction set manuals, "Vector ALU operations". Shifts use the low 5 (4, 6) bits of their
// amount. "rev" instructions have the amount or the subtrahend first.
#pragma once

#include "machine/semantics/meaning.h"

namespace asmevo::machine::meaning {
inline namespace ASMEVO_LEVEL {

using enum Format;
/// Clamped where the carry says that the range was left.
AE_WORD auto saturated(auto sum, uint32_t bound) {
  return carried(select(sum.carry, constant(sum.value, bound), sum.value), sum.carry);
}

/// The dot products came with gfx906.
inline constexpr TargetMask from_dot = bit(isa::Processor::gfx906) | from_gfx908;

inline constexpr auto word1 = shape<b32, b32>;
inline constexpr auto word2 = shape<b32, b32, b32>;
inline constexpr auto word3 = shape<b32, b32, b32, b32>;
inline constexpr auto half2 = shape<b16, b16, b16>;
inline constexpr auto half3 = shape<b16, b16, b16, b16>;
inline constexpr auto kept2 = keeping_shape<b16, b16, b16>;
inline constexpr auto kept3 = keeping_shape<b16, b16, b16, b16>;
inline constexpr auto packed2 = shape<p16, p16, p16>;
inline constexpr auto packed3 = shape<p16, p16, p16, p16>;

// Saturation: results of additions that would leave the range.
AE_WORD auto add_sat_unsigned(auto a, decltype(a) b) {
  auto sum = a + b;
  return select(below(sum, a), constant(a, ~0u), sum);
}
AE_WORD auto sub_sat_unsigned(auto a, decltype(a) b) { return select(below(a, b), constant(a, 0u), a - b); }
AE_WORD auto clamp_signed(auto wide) { // a 64-bit sum to 32 bits
  auto narrow = low(wide);
  return select(equal(sign_extend(narrow), wide), narrow, sar(high(wide), 31) ^ 0x7fffffffu);
}
AE_WORD auto clamp_unsigned(auto wide) {
  return select(equal(high(wide), constant(high(wide), 0u)), low(wide), constant(high(wide), ~0u));
}
AE_WORD auto add_sat_signed(auto a, decltype(a) b) { return clamp_signed(sign_extend(a) + sign_extend(b)); }
AE_WORD auto sub_sat_signed(auto a, decltype(a) b) { return clamp_signed(sign_extend(a) - sign_extend(b)); }
/// A signed word to the range of 16 (8) bits; an unsigned word to a maximum.
AE_WORD auto to_i16(auto a) {
  return select(less(a, constant(a, 0xffff8000u)), constant(a, 0xffff8000u),
                select(less(constant(a, 0x7fffu), a), constant(a, 0x7fffu), a));
}
AE_WORD auto to_u16(auto a) { return select(below(constant(a, 0xffffu), a), constant(a, 0xffffu), a); }
/// A signed word to [0, 65535].
AE_WORD auto to_u16_signed(auto a) { return select(less(a, constant(a, 0u)), constant(a, 0u), to_u16(a)); }
AE_WORD auto s16(auto a) { return signed_low<16>(a); }

AE_WORD auto sad_bytes(auto a, decltype(a) b, decltype(a) c, bool masked) {
  const auto term = [&](auto x, auto y) {
    auto d = absolute_difference(x, y);
    return masked ? select(equal(y, constant(y, 0u)), constant(y, 0u), d) : d;
  };
  return c + term(bits<0, 8>(a), bits<0, 8>(b)) + term(bits<8, 8>(a), bits<8, 8>(b)) +
         term(bits<16, 8>(a), bits<16, 8>(b)) + term(bits<24, 8>(a), bits<24, 8>(b));
}
/// v_perm_b32: one result byte. Bytes 0-3 come from `b`, 4-7 from `a`; 8-11 replicate signs, 12 is 0, above 0xff.
AE_WORD auto permuted_byte(auto a, decltype(a) b, decltype(a) selector) {
  const auto from = select(equal(selector & 4u, constant(a, 0u)), b, a);
  const auto byte = shr(from, shl(selector & 3u, 3u)) & 0xffu;
  const auto of = select(below(selector, constant(a, 10u)), b, a); // 8: byte 1, 9: byte 3, 10: byte 5, 11: byte 7
  const auto sign =
      select(equal(selector & 1u, constant(a, 0u)), signed_bits<15, 1>(of), signed_bits<31, 1>(of)) & 0xffu;
  const auto special = select(equal(selector, constant(a, 12u)), constant(a, 0u), constant(a, 0xffu));
  return select(below(selector, constant(a, 8u)), byte, select(below(selector, constant(a, 12u)), sign, special));
}
AE_WORD auto permute_bytes(auto a, decltype(a) b, decltype(a) c) {
  return permuted_byte(a, b, bits<0, 8>(c)) | shl(permuted_byte(a, b, bits<8, 8>(c)), 8u) |
         shl(permuted_byte(a, b, bits<16, 8>(c)), 16u) | shl(permuted_byte(a, b, bits<24, 8>(c)), 24u);
}
AE_WORD auto rotate_pair(auto a, decltype(a) b, decltype(a) amount) {
  return low(shr(shl(zero_extend(a), 32u) | zero_extend(b), amount));
}
/// Dot products of signed and unsigned fields of a word; 64 bits, so that saturation can see the sum.
template <unsigned Width> AE_WORD auto dot_signed(auto a, decltype(a) b, decltype(a) c) {
  auto sum = sign_extend(c);
  [&]<unsigned... I>(std::integer_sequence<unsigned, I...>) {
    ((sum = sum + sign_extend(signed_bits<I * Width, Width>(a) * signed_bits<I * Width, Width>(b))), ...);
  }(std::make_integer_sequence<unsigned, 32 / Width>{});
  return sum;
}
template <unsigned Width> AE_WORD auto dot_unsigned(auto a, decltype(a) b, decltype(a) c) {
  auto sum = zero_extend(c);
  [&]<unsigned... I>(std::integer_sequence<unsigned, I...>) {
    ((sum = sum + zero_extend(bits<I * Width, Width>(a) * bits<I * Width, Width>(b))), ...);
  }(std::make_integer_sequence<unsigned, 32 / Width>{});
  return sum;
}
AE_WORD auto add_carry(auto a, decltype(a) b, auto carry_in) {
  auto sum = zero_extend(a) + zero_extend(b) + zero_extend(as_word(carry_in));
  return carried(low(sum), equal(high(sum) & 1u, constant(high(sum), 1u)));
}
AE_WORD auto sub_borrow(auto a, decltype(a) b, auto borrow_in) {
  auto difference = zero_extend(a) - zero_extend(b) - zero_extend(as_word(borrow_in));
  return carried(low(difference), !equal(high(difference), constant(high(difference), 0u)));
}

inline constexpr auto integer32 = table(
    op("v_not_b32", word1, [](auto a) { return ~a; }), op("v_bfrev_b32", word1, [](auto a) { return reverse_bits(a); }),
    op("v_ffbh_u32", word1,
       [](auto a) { return select(equal(a, constant(a, 0u)), constant(a, ~0u), leading_zeros(a)); }),
    op("v_ffbl_b32", word1,
       [](auto a) { return select(equal(a, constant(a, 0u)), constant(a, ~0u), trailing_zeros(a)); }),
    op("v_ffbh_i32", word1,
       [](auto a) {
         auto folded = a ^ sar(a, 31);
         return select(equal(folded, constant(a, 0u)), constant(a, ~0u), leading_zeros(folded));
       }),
    op("v_and_b32", word2, [](auto a, auto b) { return a & b; }),
    op("v_or_b32", word2, [](auto a, auto b) { return a | b; }),
    op("v_xor_b32", word2, [](auto a, auto b) { return a ^ b; }),
    op("v_xnor_b32", word2, [](auto a, auto b) { return ~(a ^ b); }),
    op("v_lshlrev_b32", word2, [](auto a, auto b) { return shl(b, a & 31u); }),
    op("v_lshrrev_b32", word2, [](auto a, auto b) { return shr(b, a & 31u); }),
    op("v_ashrrev_i32", word2, [](auto a, auto b) { return sar(b, a & 31u); }),
    op_sat(
        "v_add_u32", word2, [](auto a, auto b) { return a + b; },
        [](auto a, auto b) { return add_sat_unsigned(a, b); }),
    op_sat(
        "v_sub_u32", word2, [](auto a, auto b) { return a - b; },
        [](auto a, auto b) { return sub_sat_unsigned(a, b); }),
    op_sat(
        "v_subrev_u32", word2, [](auto a, auto b) { return b - a; },
        [](auto a, auto b) { return sub_sat_unsigned(b, a); }),
    op_sat(
        "v_add_i32", word2, [](auto a, auto b) { return a + b; }, [](auto a, auto b) { return add_sat_signed(a, b); }),
    op_sat(
        "v_sub_i32", word2, [](auto a, auto b) { return a - b; }, [](auto a, auto b) { return sub_sat_signed(a, b); }),
    op("v_min_u32", word2, [](auto a, auto b) { return umin(a, b); }),
    op("v_max_u32", word2, [](auto a, auto b) { return umax(a, b); }),
    op("v_min_i32", word2, [](auto a, auto b) { return smin(a, b); }),
    op("v_max_i32", word2, [](auto a, auto b) { return smax(a, b); }),
    op("v_min3_u32", word3, [](auto a, auto b, auto c) { return umin(umin(a, b), c); }),
    op("v_max3_u32", word3, [](auto a, auto b, auto c) { return umax(umax(a, b), c); }),
    op("v_min3_i32", word3, [](auto a, auto b, auto c) { return smin(smin(a, b), c); }),
    op("v_max3_i32", word3, [](auto a, auto b, auto c) { return smax(smax(a, b), c); }),
    op("v_med3_u32", word3, [](auto a, auto b, auto c) { return umax(umin(a, b), umin(umax(a, b), c)); }),
    op("v_med3_i32", word3, [](auto a, auto b, auto c) { return smax(smin(a, b), smin(smax(a, b), c)); }),
    op("v_mul_lo_u32", word2, [](auto a, auto b) { return a * b; }),
    op("v_mul_lo_i32", word2, [](auto a, auto b) { return a * b; }),
    op("v_mul_hi_u32", word2, [](auto a, auto b) { return high(zero_extend(a) * zero_extend(b)); }),
    op("v_mul_hi_i32", word2, [](auto a, auto b) { return high(sign_extend(a) * sign_extend(b)); }),
    op_sat(
        "v_mul_u32_u24", word2, [](auto a, auto b) { return bits<0, 24>(a) * bits<0, 24>(b); },
        [](auto a, auto b) { return clamp_unsigned(zero_extend(bits<0, 24>(a)) * zero_extend(bits<0, 24>(b))); }),
    op("v_mul_hi_u32_u24", word2,
       [](auto a, auto b) { return high(zero_extend(bits<0, 24>(a)) * zero_extend(bits<0, 24>(b))); }),
    op_sat(
        "v_mul_i32_i24", word2, [](auto a, auto b) { return signed_low<24>(a) * signed_low<24>(b); },
        [](auto a, auto b) { return clamp_signed(sign_extend(signed_low<24>(a)) * sign_extend(signed_low<24>(b))); }),
    op("v_mul_hi_i32_i24", word2,
       [](auto a, auto b) { return high(sign_extend(signed_low<24>(a)) * sign_extend(signed_low<24>(b))); }),
    op_sat(
        "v_mad_u32_u24", word3, [](auto a, auto b, auto c) { return bits<0, 24>(a) * bits<0, 24>(b) + c; },
        [](auto a, auto b, auto c) {
          return clamp_unsigned(zero_extend(bits<0, 24>(a)) * zero_extend(bits<0, 24>(b)) + zero_extend(c));
        }),
    op_sat(
        "v_mad_i32_i24", word3, [](auto a, auto b, auto c) { return signed_low<24>(a) * signed_low<24>(b) + c; },
        [](auto a, auto b, auto c) {
          return clamp_signed(sign_extend(signed_low<24>(a)) * sign_extend(signed_low<24>(b)) + sign_extend(c));
        }),
    op_sat(
        "v_mad_u32_u16", shape<b32, b16, b16, b32>, [](auto a, auto b, auto c) { return a * b + c; },
        [](auto a, auto b, auto c) { return clamp_unsigned(zero_extend(a * b) + zero_extend(c)); }),
    op_sat(
        "v_mad_i32_i16", shape<b32, b16, b16, b32>, [](auto a, auto b, auto c) { return s16(a) * s16(b) + c; },
        [](auto a, auto b, auto c) { return clamp_signed(sign_extend(s16(a) * s16(b)) + sign_extend(c)); }),
    op("v_bfe_u32", word3,
       [](auto a, auto b, auto c) { return shr(a, b & 31u) & (shl(constant(a, 1u), c & 31u) - 1u); }),
    op("v_bfe_i32", word3,
       [](auto a, auto b, auto c) {
         // Sign-extended from bit width-1; width 0 gives 0.
         auto width = c & 31u;
         auto field = sar(a, b & 31u) & (shl(constant(a, 1u), width) - 1u);
         auto sign = shl(constant(a, 1u), (width - 1u) & 31u);
         return select(equal(width, constant(a, 0u)), constant(a, 0u), (field ^ sign) - sign);
       }),
    op("v_bfi_b32", word3, [](auto a, auto b, auto c) { return (a & b) | (~a & c); }),
    op("v_bfm_b32", word2, [](auto a, auto b) { return shl(shl(constant(a, 1u), a & 31u) - 1u, b & 31u); }),
    op("v_alignbit_b32", word3, [](auto a, auto b, auto c) { return rotate_pair(a, b, c & 31u); }),
    op("v_alignbyte_b32", word3, [](auto a, auto b, auto c) { return rotate_pair(a, b, shl(c & 3u, 3u)); }),
    op("v_xad_u32", word3, [](auto a, auto b, auto c) { return (a ^ b) + c; }),
    op("v_lshl_add_u32", word3, [](auto a, auto b, auto c) { return shl(a, b & 31u) + c; }),
    op("v_add_lshl_u32", word3, [](auto a, auto b, auto c) { return shl(a + b, c & 31u); }),
    op("v_add3_u32", word3, [](auto a, auto b, auto c) { return a + b + c; }),
    op("v_lshl_or_b32", word3, [](auto a, auto b, auto c) { return shl(a, b & 31u) | c; }),
    op("v_and_or_b32", word3, [](auto a, auto b, auto c) { return (a & b) | c; }),
    op("v_or3_b32", word3, [](auto a, auto b, auto c) { return a | b | c; }),
    op("v_bcnt_u32_b32", word2, [](auto a, auto b) { return count_ones(a) + b; }),
    // Its sources take neg and abs like floats do.
    op("v_cndmask_b32", shape<b32, f32, f32, mask>, [](auto a, auto b, auto c) { return select(c, b, a); }),
    op("v_prng_b32", word1, [](auto a) { return shl(a, 1u) ^ (sar(a, 31u) & 197u); }, on_gfx950));

/// The machine has its own loop for this one; the meaning is here for provers and for the tests that compare the two.
inline constexpr auto permutation =
    table(op("v_perm_b32", word3, [](auto a, auto b, auto c) { return permute_bytes(a, b, c); }));

inline constexpr auto bytes_and_sums = table(
    op_sat(
        "v_sad_u8", word3, [](auto a, auto b, auto c) { return sad_bytes(a, b, c, false); },
        [](auto a, auto b, auto c) { return add_sat_unsigned(sad_bytes(a, b, constant(c, 0u), false), c); }),
    op_sat(
        "v_msad_u8", word3, [](auto a, auto b, auto c) { return sad_bytes(a, b, c, true); },
        [](auto a, auto b, auto c) { return add_sat_unsigned(sad_bytes(a, b, constant(c, 0u), true), c); }),
    op_sat(
        "v_sad_hi_u8", word3,
        [](auto a, auto b, auto c) { return shl(sad_bytes(a, b, constant(c, 0u), false), 16u) + c; },
        [](auto a, auto b, auto c) { return add_sat_unsigned(shl(sad_bytes(a, b, constant(c, 0u), false), 16u), c); }),
    op_sat(
        "v_sad_u16", word3,
        [](auto a, auto b, auto c) {
          return absolute_difference(bits<0, 16>(a), bits<0, 16>(b)) + absolute_difference(shr(a, 16u), shr(b, 16u)) +
                 c;
        },
        [](auto a, auto b, auto c) {
          return add_sat_unsigned(
              absolute_difference(bits<0, 16>(a), bits<0, 16>(b)) + absolute_difference(shr(a, 16u), shr(b, 16u)), c);
        }),
    op_sat(
        "v_sad_u32", word3, [](auto a, auto b, auto c) { return absolute_difference(a, b) + c; },
        [](auto a, auto b, auto c) { return add_sat_unsigned(absolute_difference(a, b), c); }),
    op("v_lerp_u8", word3,
       [](auto a, auto b, auto c) {
         // Each byte (a + b + (c & 1)) / 2, without carries between bytes.
         auto even = (a & 0x00ff00ffu) + (b & 0x00ff00ffu) + (c & 0x00010001u);
         auto odd = (shr(a, 8u) & 0x00ff00ffu) + (shr(b, 8u) & 0x00ff00ffu) + (shr(c, 8u) & 0x00010001u);
         return (shr(even, 1u) & 0x00ff00ffu) | shl(shr(odd, 1u) & 0x00ff00ffu, 8u);
       }),
    op("v_cvt_pk_u16_u32", word2, [](auto a, auto b) { return to_u16(a) | shl(to_u16(b), 16u); }),
    op("v_cvt_pk_i16_i32", word2, [](auto a, auto b) { return (to_i16(a) & 0xffffu) | shl(to_i16(b), 16u); }),
    op("v_sat_pk_u8_i16", shape<b16, b32>,
       [](auto a) {
         auto saturate = [](auto x) {
           auto floor = select(less(x, constant(x, 0u)), constant(x, 0u), x);
           return umin(floor, constant(x, 255u));
         };
         return saturate(s16(a)) | shl(saturate(sar(a, 16u)), 8u);
       }),
    op(
        "v_ashr_pk_i8_i32", shape<b16, b32, b32, b32>,
        [](auto a, auto b, auto c) {
          auto saturate = [](auto x) { return smax(smin(x, constant(x, 127u)), constant(x, 0xffffff80u)) & 0xffu; };
          return saturate(sar(a, c & 31u)) | shl(saturate(sar(b, c & 31u)), 8u);
        },
        on_gfx950),
    op(
        "v_ashr_pk_u8_i32", shape<b16, b32, b32, b32>,
        [](auto a, auto b, auto c) {
          auto saturate = [](auto x) { return smax(smin(x, constant(x, 255u)), constant(x, 0u)); };
          return saturate(sar(a, c & 31u)) | shl(saturate(sar(b, c & 31u)), 8u);
        },
        on_gfx950),
    op_sat(
        "v_dot4_i32_i8", word3, [](auto a, auto b, auto c) { return low(dot_signed<8>(a, b, c)); },
        [](auto a, auto b, auto c) { return clamp_signed(dot_signed<8>(a, b, c)); }, from_dot),
    op_sat(
        "v_dot4_u32_u8", word3, [](auto a, auto b, auto c) { return low(dot_unsigned<8>(a, b, c)); },
        [](auto a, auto b, auto c) { return clamp_unsigned(dot_unsigned<8>(a, b, c)); }, from_dot),
    op_sat(
        "v_dot8_i32_i4", word3, [](auto a, auto b, auto c) { return low(dot_signed<4>(a, b, c)); },
        [](auto a, auto b, auto c) { return clamp_signed(dot_signed<4>(a, b, c)); }, from_dot),
    op_sat(
        "v_dot8_u32_u4", word3, [](auto a, auto b, auto c) { return low(dot_unsigned<4>(a, b, c)); },
        [](auto a, auto b, auto c) { return clamp_unsigned(dot_unsigned<4>(a, b, c)); }, from_dot));

/// p16 sources as whole words: op_sel has been applied, the two halves meet.
inline constexpr auto half_dots =
    table(op_sat(
              "v_dot2_i32_i16", word3, [](auto a, auto b, auto c) { return low(dot_signed<16>(a, b, c)); },
              [](auto a, auto b, auto c) { return clamp_signed(dot_signed<16>(a, b, c)); }, from_dot),
          op_sat(
              "v_dot2_u32_u16", word3, [](auto a, auto b, auto c) { return low(dot_unsigned<16>(a, b, c)); },
              [](auto a, auto b, auto c) { return clamp_unsigned(dot_unsigned<16>(a, b, c)); }, from_dot));

/// The third argument is the destination's old value.
inline constexpr auto accumulating_dots =
    table(op_sat(
              "v_dot2c_i32_i16", word2, [](auto a, auto b, auto c) { return low(dot_signed<16>(a, b, c)); },
              [](auto a, auto b, auto c) { return clamp_signed(dot_signed<16>(a, b, c)); }, from_gfx908),
          op_sat(
              "v_dot4c_i32_i8", word2, [](auto a, auto b, auto c) { return low(dot_signed<8>(a, b, c)); },
              [](auto a, auto b, auto c) { return clamp_signed(dot_signed<8>(a, b, c)); }, from_gfx908),
          op_sat(
              "v_dot8c_i32_i4", word2, [](auto a, auto b, auto c) { return low(dot_signed<4>(a, b, c)); },
              [](auto a, auto b, auto c) { return clamp_signed(dot_signed<4>(a, b, c)); }, from_gfx908));

// 16 bits: arguments are zero-extended, results are cut off.
inline constexpr auto halves = table(
    op_sat(
        "v_add_u16", half2, [](auto a, auto b) { return a + b; }, [](auto a, auto b) { return to_u16(a + b); }),
    op_sat(
        "v_sub_u16", half2, [](auto a, auto b) { return a - b; }, [](auto a, auto b) { return to_u16_signed(a - b); }),
    op_sat(
        "v_subrev_u16", half2, [](auto a, auto b) { return b - a; },
        [](auto a, auto b) { return to_u16_signed(b - a); }),
    op_sat(
        "v_add_i16", kept2, [](auto a, auto b) { return a + b; },
        [](auto a, auto b) { return to_i16(s16(a) + s16(b)); }),
    op_sat(
        "v_sub_i16", kept2, [](auto a, auto b) { return a - b; },
        [](auto a, auto b) { return to_i16(s16(a) - s16(b)); }),
    op("v_mul_lo_u16", half2, [](auto a, auto b) { return a * b; }),
    op("v_lshlrev_b16", half2, [](auto a, auto b) { return shl(b, a & 15u); }),
    op("v_lshrrev_b16", half2, [](auto a, auto b) { return shr(b, a & 15u); }),
    op("v_ashrrev_i16", half2, [](auto a, auto b) { return sar(s16(b), a & 15u); }),
    op("v_min_u16", half2, [](auto a, auto b) { return umin(a, b); }),
    op("v_max_u16", half2, [](auto a, auto b) { return umax(a, b); }),
    op("v_min_i16", half2, [](auto a, auto b) { return smin(s16(a), s16(b)); }),
    op("v_max_i16", half2, [](auto a, auto b) { return smax(s16(a), s16(b)); }),
    op("v_min3_u16", kept3, [](auto a, auto b, auto c) { return umin(umin(a, b), c); }),
    op("v_max3_u16", kept3, [](auto a, auto b, auto c) { return umax(umax(a, b), c); }),
    op("v_min3_i16", kept3, [](auto a, auto b, auto c) { return smin(smin(s16(a), s16(b)), s16(c)); }),
    op("v_max3_i16", kept3, [](auto a, auto b, auto c) { return smax(smax(s16(a), s16(b)), s16(c)); }),
    op("v_med3_u16", kept3, [](auto a, auto b, auto c) { return umax(umin(a, b), umin(umax(a, b), c)); }),
    op("v_med3_i16", kept3,
       [](auto x, auto y, auto z) {
         auto a = s16(x), b = s16(y), c = s16(z);
         return smax(smin(a, b), smin(smax(a, b), c));
       }),
    op_sat(
        "v_mad_u16", kept3, [](auto a, auto b, auto c) { return a * b + c; },
        [](auto a, auto b, auto c) { return to_u16(clamp_unsigned(zero_extend(a * b) + zero_extend(c))); }),
    op_sat(
        "v_mad_i16", kept3, [](auto a, auto b, auto c) { return a * b + c; },
        [](auto a, auto b, auto c) { return to_i16(s16(a) * s16(b) + s16(c)); }),
    op_sat(
        "v_mad_legacy_u16", half3, [](auto a, auto b, auto c) { return a * b + c; },
        [](auto a, auto b, auto c) { return to_u16(clamp_unsigned(zero_extend(a * b) + zero_extend(c))); }),
    op_sat(
        "v_mad_legacy_i16", half3, [](auto a, auto b, auto c) { return a * b + c; },
        [](auto a, auto b, auto c) { return to_i16(s16(a) * s16(b) + s16(c)); }));

// Two halves at once.
inline constexpr auto packed_halves = table(
    op_sat(
        "v_pk_mad_i16", packed3, [](auto a, auto b, auto c) { return a * b + c; },
        [](auto a, auto b, auto c) { return to_i16(s16(a) * s16(b) + s16(c)); }),
    op_sat(
        "v_pk_mad_u16", packed3, [](auto a, auto b, auto c) { return a * b + c; },
        [](auto a, auto b, auto c) { return to_u16(clamp_unsigned(zero_extend(a * b) + zero_extend(c))); }),
    op("v_pk_mul_lo_u16", packed2, [](auto a, auto b) { return a * b; }),
    op_sat(
        "v_pk_add_i16", packed2, [](auto a, auto b) { return a + b; },
        [](auto a, auto b) { return to_i16(s16(a) + s16(b)); }),
    op_sat(
        "v_pk_sub_i16", packed2, [](auto a, auto b) { return a - b; },
        [](auto a, auto b) { return to_i16(s16(a) - s16(b)); }),
    op_sat(
        "v_pk_add_u16", packed2, [](auto a, auto b) { return a + b; }, [](auto a, auto b) { return to_u16(a + b); }),
    op_sat(
        "v_pk_sub_u16", packed2, [](auto a, auto b) { return a - b; },
        [](auto a, auto b) { return to_u16_signed(a - b); }),
    op("v_pk_lshlrev_b16", packed2, [](auto a, auto b) { return shl(b, a & 15u); }),
    op("v_pk_lshrrev_b16", packed2, [](auto a, auto b) { return shr(b, a & 15u); }),
    op("v_pk_ashrrev_i16", packed2, [](auto a, auto b) { return sar(s16(b), a & 15u); }),
    op("v_pk_min_u16", packed2, [](auto a, auto b) { return umin(a, b); }),
    op("v_pk_max_u16", packed2, [](auto a, auto b) { return umax(a, b); }),
    op("v_pk_min_i16", packed2, [](auto a, auto b) { return smin(s16(a), s16(b)); }),
    op("v_pk_max_i16", packed2, [](auto a, auto b) { return smax(s16(a), s16(b)); }));

inline constexpr auto wide = table(
    op("v_lshlrev_b64", shape<b64, b32, b64>, [](auto a, auto b) { return shl(b, a & 63u); }),
    op("v_lshrrev_b64", shape<b64, b32, b64>, [](auto a, auto b) { return shr(b, a & 63u); }),
    op("v_ashrrev_i64", shape<b64, b32, b64>, [](auto a, auto b) { return sar(b, a & 63u); }),
    op(
        // Shift counts other than 0 to 4 count as 0.
        "v_lshl_add_u64", shape<b64, b64, b32, b64>,
        [](auto a, auto b, auto c) {
          const auto count = b & 7u;
          return shl(a, select(below(count, constant(b, 5u)), count, constant(b, 0u))) + c;
        },
        from_gfx942),
    op("v_mad_u64_u32", carry_shape<b64, b32, b32, b64>,
       [](auto a, auto b, auto c) {
         auto sum = zero_extend(a) * zero_extend(b) + c;
         return carried(sum, below(sum, c));
       }),
    op("v_mad_i64_i32", carry_shape<b64, b32, b32, b64>,
       [](auto a, auto b, auto c) {
         // The carry is bit 64 of the 65-bit sum: the sign of the exact result.
         auto product = sign_extend(a) * sign_extend(b);
         auto sum = product + c;
         auto zero = constant(sum, 0u);
         auto overflow = less((product ^ sum) & (c ^ sum), zero);
         return carried(sum, overflow ^ less(sum, zero));
       }),
    op_sat(
        "v_add_co_u32", carry_shape<b32, b32, b32>,
        [](auto a, auto b) {
          auto sum = a + b;
          return carried(sum, below(sum, a));
        },
        [](auto a, auto b) { return carried(add_sat_unsigned(a, b), below(a + b, a)); }),
    op_sat(
        "v_sub_co_u32", carry_shape<b32, b32, b32>, [](auto a, auto b) { return carried(a - b, below(a, b)); },
        [](auto a, auto b) { return carried(sub_sat_unsigned(a, b), below(a, b)); }),
    op_sat(
        "v_subrev_co_u32", carry_shape<b32, b32, b32>, [](auto a, auto b) { return carried(b - a, below(b, a)); },
        [](auto a, auto b) { return carried(sub_sat_unsigned(b, a), below(b, a)); }),
    op_sat(
        "v_addc_co_u32", carry_shape<b32, b32, b32, mask>, [](auto a, auto b, auto c) { return add_carry(a, b, c); },
        [](auto a, auto b, auto c) { return saturated(add_carry(a, b, c), ~0u); }),
    op_sat(
        "v_subb_co_u32", carry_shape<b32, b32, b32, mask>, [](auto a, auto b, auto c) { return sub_borrow(a, b, c); },
        [](auto a, auto b, auto c) { return saturated(sub_borrow(a, b, c), 0u); }),
    op_sat(
        "v_subbrev_co_u32", carry_shape<b32, b32, b32, mask>,
        [](auto a, auto b, auto c) { return sub_borrow(b, a, c); },
        [](auto a, auto b, auto c) { return saturated(sub_borrow(b, a, c), 0u); }));

} // namespace ASMEVO_LEVEL
} // namespace asmevo::machine::meaning
