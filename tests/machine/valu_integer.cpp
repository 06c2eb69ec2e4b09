// Integer vector instructions against plain C++ written from the manual's text.
#include "valu_fixture.h"

#include <bit>

namespace asmevo::machine {
namespace {

using U = uint32_t;
using I = int32_t;
using U64 = uint64_t;
using I64 = int64_t;

U64 saturate(I64 value, I64 low, I64 high) { return U64(std::min(std::max(value, low), high)); }
I64 i24(U x) { return I64(I(x << 8) >> 8); }
I64 i16(U x) { return int16_t(x); }
U byte(U x, unsigned k) { return x >> (8 * k) & 0xff; }
U difference(U a, U b) { return a > b ? a - b : b - a; }
U median(U a, U b, U c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }
U median_signed(U a, U b, U c) { return U(std::max(std::min(I(a), I(b)), std::min(std::max(I(a), I(b)), I(c)))); }
U reverse(U x) {
  U r = 0;
  for (int k = 0; k < 32; ++k) r |= (x >> k & 1) << (31 - k);
  return r;
}
U from_top(U x) { return x ? U(std::countl_zero(x)) : ~0u; }
U sad(U a, U b, bool masked) {
  U sum = 0;
  for (unsigned k = 0; k < 4; ++k)
    if (!masked || byte(b, k)) sum += difference(byte(a, k), byte(b, k));
  return sum;
}
U perm(U a, U b, U c) {
  const U64 data = U64{a} << 32 | b;
  U result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const U selector = byte(c, k);
    U value = 0xff;
    if (selector < 8)
      value = U(data >> (8 * selector)) & 0xff;
    else if (selector < 12)
      value = data >> (16 * (selector - 8) + 15) & 1 ? 0xff : 0;
    else if (selector == 12)
      value = 0;
    result |= value << (8 * k);
  }
  return result;
}
I64 dot(U a, U b, unsigned width, bool is_signed) {
  I64 sum = 0;
  for (unsigned k = 0; k < 32; k += width) {
    const U x = a >> k & ((U64{1} << width) - 1), y = b >> k & ((U64{1} << width) - 1);
    const auto wide = [&](U v) { return is_signed && v >> (width - 1) ? I64(v) - (I64{1} << width) : I64(v); };
    sum += wide(x) * wide(y);
  }
  return sum;
}

struct Model {
  std::string_view mnemonic;
  std::function<U64(U64, U64, U64)> plain;
  std::function<U64(U64, U64, U64)> clamped = {};
  unsigned width = 32; // of the result
  isa::Processor processor = isa::Processor::gfx942;
};

constexpr I64 imin = std::numeric_limits<I>::min(), imax = std::numeric_limits<I>::max(), umax = 0xffffffff;

const std::vector<Model>& models() {
  static const std::vector<Model> all = {
      {"v_not_b32", [](U a, U, U) { return ~a; }},
      {"v_bfrev_b32", [](U a, U, U) { return reverse(a); }},
      {"v_ffbh_u32", [](U a, U, U) { return from_top(a); }},
      {"v_ffbl_b32", [](U a, U, U) { return a ? U(std::countr_zero(a)) : ~0u; }},
      {"v_ffbh_i32", [](U a, U, U) { return from_top(I(a) < 0 ? ~a : a); }},
      {"v_and_b32", [](U a, U b, U) { return a & b; }},
      {"v_or_b32", [](U a, U b, U) { return a | b; }},
      {"v_xor_b32", [](U a, U b, U) { return a ^ b; }},
      {"v_xnor_b32", [](U a, U b, U) { return ~(a ^ b); }},
      {"v_lshlrev_b32", [](U a, U b, U) { return b << (a & 31); }},
      {"v_lshrrev_b32", [](U a, U b, U) { return b >> (a & 31); }},
      {"v_ashrrev_i32", [](U a, U b, U) { return U(I(b) >> (a & 31)); }},
      {"v_add_u32", [](U a, U b, U) { return U(a + b); }, [](U a, U b, U) { return saturate(I64(a) + b, 0, umax); }},
      {"v_sub_u32", [](U a, U b, U) { return U(a - b); }, [](U a, U b, U) { return saturate(I64(a) - b, 0, umax); }},
      {"v_subrev_u32", [](U a, U b, U) { return U(b - a); }, [](U a, U b, U) { return saturate(I64(b) - a, 0, umax); }},
      {"v_add_i32", [](U a, U b, U) { return U(a + b); },
       [](U a, U b, U) { return U(saturate(I64(I(a)) + I(b), imin, imax)); }},
      {"v_sub_i32", [](U a, U b, U) { return U(a - b); },
       [](U a, U b, U) { return U(saturate(I64(I(a)) - I(b), imin, imax)); }},
      {"v_min_u32", [](U a, U b, U) { return std::min(a, b); }},
      {"v_max_u32", [](U a, U b, U) { return std::max(a, b); }},
      {"v_min_i32", [](U a, U b, U) { return U(std::min(I(a), I(b))); }},
      {"v_max_i32", [](U a, U b, U) { return U(std::max(I(a), I(b))); }},
      {"v_min3_u32", [](U a, U b, U c) { return std::min({a, b, c}); }},
      {"v_max3_u32", [](U a, U b, U c) { return std::max({a, b, c}); }},
      {"v_min3_i32", [](U a, U b, U c) { return U(std::min({I(a), I(b), I(c)})); }},
      {"v_max3_i32", [](U a, U b, U c) { return U(std::max({I(a), I(b), I(c)})); }},
      {"v_med3_u32", [](U a, U b, U c) { return median(a, b, c); }},
      {"v_med3_i32", [](U a, U b, U c) { return median_signed(a, b, c); }},
      {"v_mul_lo_u32", [](U a, U b, U) { return U(a * b); }},
      {"v_mul_hi_u32", [](U a, U b, U) { return U64{a} * b >> 32; }},
      {"v_mul_hi_i32", [](U a, U b, U) { return U(I64(I(a)) * I(b) >> 32); }},
      {"v_mul_u32_u24", [](U a, U b, U) { return U((a & 0xffffff) * (b & 0xffffff)); },
       [](U a, U b, U) { return saturate(I64(a & 0xffffff) * (b & 0xffffff), 0, umax); }},
      {"v_mul_hi_u32_u24", [](U a, U b, U) { return U64{a & 0xffffff} * (b & 0xffffff) >> 32; }},
      {"v_mul_i32_i24", [](U a, U b, U) { return U(i24(a) * i24(b)); },
       [](U a, U b, U) { return U(saturate(i24(a) * i24(b), imin, imax)); }},
      {"v_mul_hi_i32_i24", [](U a, U b, U) { return U(i24(a) * i24(b) >> 32); }},
      {"v_mad_u32_u24", [](U a, U b, U c) { return U((a & 0xffffff) * (b & 0xffffff) + c); },
       [](U a, U b, U c) { return saturate(I64(a & 0xffffff) * (b & 0xffffff) + c, 0, umax); }},
      {"v_mad_i32_i24", [](U a, U b, U c) { return U(i24(a) * i24(b) + c); },
       [](U a, U b, U c) { return U(saturate(i24(a) * i24(b) + I(c), imin, imax)); }},
      {"v_mad_u32_u16", [](U a, U b, U c) { return U((a & 0xffff) * (b & 0xffff) + c); },
       [](U a, U b, U c) { return saturate(I64(a & 0xffff) * (b & 0xffff) + c, 0, umax); }},
      {"v_mad_i32_i16", [](U a, U b, U c) { return U(i16(a) * i16(b) + c); },
       [](U a, U b, U c) { return U(saturate(i16(a) * i16(b) + I(c), imin, imax)); }},
      {"v_bfe_u32", [](U a, U b, U c) { return (a >> (b & 31)) & ((1u << (c & 31)) - 1); }},
      {"v_bfe_i32",
       [](U a, U b, U c) -> U64 {
         const U width = c & 31;
         if (!width) return 0;
         const I64 shifted = I64(I(a)) >> (b & 31);
         return U(I64(U64(shifted) << (64 - width)) >> (64 - width));
       }},
      {"v_bfi_b32", [](U a, U b, U c) { return (a & b) | (~a & c); }},
      {"v_bfm_b32", [](U a, U b, U) { return ((1u << (a & 31)) - 1) << (b & 31); }},
      {"v_alignbit_b32", [](U a, U b, U c) { return U((U64{a} << 32 | b) >> (c & 31)); }},
      {"v_alignbyte_b32", [](U a, U b, U c) { return U((U64{a} << 32 | b) >> (8 * (c & 3))); }},
      {"v_perm_b32", [](U a, U b, U c) { return perm(a, b, c); }},
      {"v_xad_u32", [](U a, U b, U c) { return U((a ^ b) + c); }},
      {"v_lshl_add_u32", [](U a, U b, U c) { return U((a << (b & 31)) + c); }},
      {"v_add_lshl_u32", [](U a, U b, U c) { return U(a + b) << (c & 31); }},
      {"v_add3_u32", [](U a, U b, U c) { return U(a + b + c); }},
      {"v_lshl_or_b32", [](U a, U b, U c) { return a << (b & 31) | c; }},
      {"v_and_or_b32", [](U a, U b, U c) { return (a & b) | c; }},
      {"v_or3_b32", [](U a, U b, U c) { return a | b | c; }},
      {"v_bcnt_u32_b32", [](U a, U b, U) { return U(std::popcount(a) + b); }},
      {"v_sad_u8", [](U a, U b, U c) { return U(sad(a, b, false) + c); },
       [](U a, U b, U c) { return saturate(I64(sad(a, b, false)) + c, 0, umax); }},
      {"v_msad_u8", [](U a, U b, U c) { return U(sad(a, b, true) + c); },
       [](U a, U b, U c) { return saturate(I64(sad(a, b, true)) + c, 0, umax); }},
      {"v_sad_hi_u8", [](U a, U b, U c) { return U((sad(a, b, false) << 16) + c); },
       [](U a, U b, U c) { return saturate((I64(sad(a, b, false)) << 16) + c, 0, umax); }},
      {"v_sad_u16",
       [](U a, U b, U c) { return U(difference(a & 0xffff, b & 0xffff) + difference(a >> 16, b >> 16) + c); },
       [](U a, U b, U c) {
         return saturate(I64(difference(a & 0xffff, b & 0xffff)) + difference(a >> 16, b >> 16) + c, 0, umax);
       }},
      {"v_sad_u32", [](U a, U b, U c) { return U(difference(a, b) + c); },
       [](U a, U b, U c) { return saturate(I64(difference(a, b)) + c, 0, umax); }},
      {"v_lerp_u8",
       [](U a, U b, U c) {
         U result = 0;
         for (unsigned k = 0; k < 4; ++k) result |= (byte(a, k) + byte(b, k) + (byte(c, k) & 1)) / 2 << (8 * k);
         return result;
       }},
      {"v_cvt_pk_u16_u32", [](U a, U b, U) { return std::min(a, 0xffffu) | std::min(b, 0xffffu) << 16; }},
      {"v_cvt_pk_i16_i32",
       [](U a, U b, U) {
         return U(saturate(I(a), -32768, 32767) & 0xffff) | U(saturate(I(b), -32768, 32767) << 16);
       }},
      {"v_sat_pk_u8_i16", [](U a, U, U) { return saturate(i16(a), 0, 255) | saturate(i16(a >> 16), 0, 255) << 8; }},
      {"v_dot4_i32_i8", [](U a, U b, U c) { return U(dot(a, b, 8, true) + c); },
       [](U a, U b, U c) { return U(saturate(dot(a, b, 8, true) + I(c), imin, imax)); }},
      {"v_dot4_u32_u8", [](U a, U b, U c) { return U(dot(a, b, 8, false) + c); },
       [](U a, U b, U c) { return saturate(dot(a, b, 8, false) + c, 0, umax); }},
      {"v_dot8_i32_i4", [](U a, U b, U c) { return U(dot(a, b, 4, true) + c); },
       [](U a, U b, U c) { return U(saturate(dot(a, b, 4, true) + I(c), imin, imax)); }},
      {"v_dot8_u32_u4", [](U a, U b, U c) { return U(dot(a, b, 4, false) + c); },
       [](U a, U b, U c) { return saturate(dot(a, b, 4, false) + c, 0, umax); }},
      {"v_dot2_i32_i16", [](U a, U b, U c) { return U(dot(a, b, 16, true) + c); },
       [](U a, U b, U c) { return U(saturate(dot(a, b, 16, true) + I(c), imin, imax)); }},
      {"v_dot2_u32_u16", [](U a, U b, U c) { return U(dot(a, b, 16, false) + c); },
       [](U a, U b, U c) { return saturate(dot(a, b, 16, false) + c, 0, umax); }},
      {"v_add_u16", [](U a, U b, U) { return (a + b) & 0xffff; },
       [](U a, U b, U) { return saturate(I64(a & 0xffff) + (b & 0xffff), 0, 0xffff); }},
      {"v_sub_u16", [](U a, U b, U) { return (a - b) & 0xffff; },
       [](U a, U b, U) { return saturate(I64(a & 0xffff) - (b & 0xffff), 0, 0xffff); }},
      {"v_subrev_u16", [](U a, U b, U) { return (b - a) & 0xffff; },
       [](U a, U b, U) { return saturate(I64(b & 0xffff) - (a & 0xffff), 0, 0xffff); }},
      {"v_add_i16", [](U a, U b, U) { return (a + b) & 0xffff; },
       [](U a, U b, U) { return saturate(i16(a) + i16(b), -32768, 32767) & 0xffff; }},
      {"v_sub_i16", [](U a, U b, U) { return (a - b) & 0xffff; },
       [](U a, U b, U) { return saturate(i16(a) - i16(b), -32768, 32767) & 0xffff; }},
      {"v_mul_lo_u16", [](U a, U b, U) { return a * b & 0xffff; }},
      {"v_lshlrev_b16", [](U a, U b, U) { return b << (a & 15) & 0xffff; }},
      {"v_lshrrev_b16", [](U a, U b, U) { return (b & 0xffff) >> (a & 15); }},
      {"v_ashrrev_i16", [](U a, U b, U) { return U(i16(b) >> (a & 15)) & 0xffff; }},
      {"v_min_u16", [](U a, U b, U) { return std::min(a & 0xffff, b & 0xffff); }},
      {"v_max_u16", [](U a, U b, U) { return std::max(a & 0xffff, b & 0xffff); }},
      {"v_min_i16", [](U a, U b, U) { return U(std::min(i16(a), i16(b))) & 0xffff; }},
      {"v_max_i16", [](U a, U b, U) { return U(std::max(i16(a), i16(b))) & 0xffff; }},
      {"v_min3_u16", [](U a, U b, U c) { return std::min({a & 0xffff, b & 0xffff, c & 0xffff}); }},
      {"v_max3_u16", [](U a, U b, U c) { return std::max({a & 0xffff, b & 0xffff, c & 0xffff}); }},
      {"v_min3_i16", [](U a, U b, U c) { return U(std::min({i16(a), i16(b), i16(c)})) & 0xffff; }},
      {"v_max3_i16", [](U a, U b, U c) { return U(std::max({i16(a), i16(b), i16(c)})) & 0xffff; }},
      {"v_med3_u16", [](U a, U b, U c) { return median(a & 0xffff, b & 0xffff, c & 0xffff); }},
      {"v_med3_i16", [](U a, U b, U c) { return median_signed(U(i16(a)), U(i16(b)), U(i16(c))) & 0xffff; }},
      {"v_mad_u16", [](U a, U b, U c) { return (a * b + c) & 0xffff; },
       [](U a, U b, U c) { return saturate(I64(a & 0xffff) * (b & 0xffff) + (c & 0xffff), 0, 0xffff); }},
      {"v_mad_i16", [](U a, U b, U c) { return (a * b + c) & 0xffff; },
       [](U a, U b, U c) { return saturate(i16(a) * i16(b) + i16(c), -32768, 32767) & 0xffff; }},
      {"v_mad_legacy_u16", [](U a, U b, U c) { return (a * b + c) & 0xffff; },
       [](U a, U b, U c) { return saturate(I64(a & 0xffff) * (b & 0xffff) + (c & 0xffff), 0, 0xffff); }},
      {"v_mad_legacy_i16", [](U a, U b, U c) { return (a * b + c) & 0xffff; },
       [](U a, U b, U c) { return saturate(i16(a) * i16(b) + i16(c), -32768, 32767) & 0xffff; }},
      {"v_ashr_pk_i8_i32",
       [](U a, U b, U c) {
         return (saturate(I(a) >> (c & 31), -128, 127) & 0xff) | (saturate(I(b) >> (c & 31), -128, 127) & 0xff) << 8;
       },
       {},
       32,
       isa::Processor::gfx950},
      {"v_ashr_pk_u8_i32",
       [](U a, U b, U c) { return saturate(I(a) >> (c & 31), 0, 255) | saturate(I(b) >> (c & 31), 0, 255) << 8; },
       {},
       32,
       isa::Processor::gfx950},
      {"v_prng_b32", [](U a, U, U) { return a << 1 ^ (a >> 31 ? 197u : 0u); }, {}, 32, isa::Processor::gfx950},
      {"v_lshlrev_b64", [](U64 a, U64 b, U64) { return b << (a & 63); }, {}, 64},
      {"v_lshrrev_b64", [](U64 a, U64 b, U64) { return b >> (a & 63); }, {}, 64},
      {"v_ashrrev_i64", [](U64 a, U64 b, U64) { return U64(I64(b) >> (a & 63)); }, {}, 64},
      {"v_lshl_add_u64", [](U64 a, U64 b, U64 c) { return (a << ((b & 7) <= 4 ? b & 7 : 0)) + c; }, {}, 64},
      {"v_mad_u64_u32", [](U64 a, U64 b, U64 c) { return U64{U(a)} * U(b) + c; }, {}, 64},
      {"v_mad_i64_i32", [](U64 a, U64 b, U64 c) { return U64(I64(I(a)) * I(b)) + c; }, {}, 64},
  };
  return all;
}

void fill(Lanes& lanes, std::mt19937& random) {
  for (unsigned k = 0; k < 3; ++k)
    for (unsigned i = 0; i < machine::lanes; ++i)
      lanes.set(k, i, uint64_t{interesting_word(random)} << 32 | interesting_word(random));
}
uint64_t value(Lanes& lanes, unsigned k, unsigned i) {
  return uint64_t{lanes.source(k, 1).lane[i]} << 32 | lanes.source(k, 0).lane[i];
}

TEST(ValuInteger, every_instruction_computes_what_the_manual_says) {
  std::mt19937 random(1);
  for (const Model& model : models()) {
    for (int round = 0; round < 40; ++round) {
      Lanes lanes;
      fill(lanes, random);
      const bool clamp = model.clamped && round % 2;
      lanes.op.modifiers = Modifiers::pack(0, 0, 0, 0, 0, clamp);
      lanes.run(model.mnemonic, model.processor);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const uint64_t a = value(lanes, 0, i), b = value(lanes, 1, i), c = value(lanes, 2, i);
        const uint64_t expected = (clamp ? model.clamped : model.plain)(a, b, c);
        const uint64_t got = model.width == 64 ? lanes.result64(i) : lanes.result().lane[i];
        ASSERT_EQ(got, model.width == 64 ? expected : uint32_t(expected))
            << model.mnemonic << (clamp ? " clamp" : "") << std::hex << " " << a << " " << b << " " << c;
      }
    }
    note_tested(model.mnemonic, model.processor);
  }
}

TEST(ValuInteger, perm_with_one_selector_for_all_lanes_gives_what_single_lanes_give) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Lanes lanes;
    fill(lanes, random);
    U selector = 0;
    for (unsigned k = 0; k < 4; ++k) selector |= U(random() % (round % 2 ? 8 : 14)) << (8 * k);
    for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(2, i, selector);
    lanes.run("v_perm_b32");
    for (unsigned i = 0; i < machine::lanes; ++i)
      ASSERT_EQ(lanes.result().lane[i], perm(lanes.source(0).lane[i], lanes.source(1).lane[i], selector))
          << std::hex << selector;
  }
}

TEST(ValuInteger, inactive_lanes_keep_their_value) {
  std::mt19937 random(2);
  for (std::string_view mnemonic : {"v_add_u32", "v_perm_b32", "v_mad_u64_u32", "v_pk_add_u16", "v_dot4c_i32_i8"}) {
    Lanes lanes;
    fill(lanes, random);
    lanes.wave.set_exec(0x8000'0001'dead'beef);
    for (unsigned i = 0; i < machine::lanes; ++i) lanes.result().lane[i] = 0xabcd0000 + i;
    lanes.run(mnemonic);
    for (unsigned i = 0; i < machine::lanes; ++i)
      if (!(0x8000'0001'dead'beef >> i & 1)) {
        EXPECT_EQ(lanes.result().lane[i], 0xabcd0000 + i) << mnemonic;
      }
  }
}

TEST(ValuInteger, packed_instructions_keep_the_halves_apart) {
  std::mt19937 random(3);
  using Half = std::function<I64(I64, I64, I64)>; // before it is cut off or saturated
  struct Packed {
    std::string_view mnemonic;
    bool is_signed;
    Half half;
    bool saturates = false;
  };
  const Packed all[] = {
      {"v_pk_add_u16", false, [](I64 a, I64 b, I64) { return a + b; }, true},
      {"v_pk_add_i16", true, [](I64 a, I64 b, I64) { return a + b; }, true},
      {"v_pk_sub_u16", false, [](I64 a, I64 b, I64) { return a - b; }, true},
      {"v_pk_sub_i16", true, [](I64 a, I64 b, I64) { return a - b; }, true},
      {"v_pk_mul_lo_u16", false, [](I64 a, I64 b, I64) { return a * b; }},
      {"v_pk_mad_u16", false, [](I64 a, I64 b, I64 c) { return a * b + c; }, true},
      {"v_pk_mad_i16", true, [](I64 a, I64 b, I64 c) { return a * b + c; }, true},
      {"v_pk_max_u16", false, [](I64 a, I64 b, I64) { return std::max(a, b); }},
      {"v_pk_max_i16", true, [](I64 a, I64 b, I64) { return std::max(a, b); }},
      {"v_pk_min_u16", false, [](I64 a, I64 b, I64) { return std::min(a, b); }},
      {"v_pk_min_i16", true, [](I64 a, I64 b, I64) { return std::min(a, b); }},
      {"v_pk_ashrrev_i16", true, [](I64 a, I64 b, I64) { return b >> (a & 15); }},
      {"v_pk_lshrrev_b16", false, [](I64 a, I64 b, I64) { return b >> (a & 15); }},
      {"v_pk_lshlrev_b16", false, [](I64 a, I64 b, I64) { return b << (a & 15); }},
  };
  for (const Packed& p : all) {
    for (int round = 0; round < 20; ++round) {
      const bool clamp = p.saturates && round % 2;
      Lanes lanes;
      fill(lanes, random);
      lanes.op.modifiers = Modifiers::pack(0, 0, 0, 0, 0, clamp);
      lanes.run(p.mnemonic);
      for (unsigned i = 0; i < machine::lanes; ++i)
        for (const unsigned at : {0u, 16u}) {
          const auto operand = [&](unsigned k) {
            const U x = lanes.source(k).lane[i] >> at & 0xffff;
            return p.is_signed ? i16(x) : I64(x);
          };
          const I64 exact = p.half(operand(0), operand(1), operand(2));
          const U64 expected =
              clamp ? saturate(exact, p.is_signed ? -32768 : 0, p.is_signed ? 32767 : 65535) : U64(exact);
          ASSERT_EQ(lanes.result().lane[i] >> at & 0xffff, expected & 0xffff)
              << p.mnemonic << (clamp ? " clamp " : " ") << operand(0) << " " << operand(1) << " " << operand(2);
        }
    }
    note_tested(p.mnemonic, isa::Processor::gfx942);
  }
}

TEST(ValuInteger, sums_and_differences_carry_in_and_out_and_inactive_lanes_carry_nothing) {
  std::mt19937 random(4);
  struct Carrying {
    std::string_view mnemonic;
    int sign; // of the second operand and of the carry; the reversed ones swap first
    bool reversed, carry_in;
  };
  for (const Carrying& c :
       {Carrying{"v_add_co_u32", 1, false, false}, Carrying{"v_addc_co_u32", 1, false, true},
        Carrying{"v_sub_co_u32", -1, false, false}, Carrying{"v_subb_co_u32", -1, false, true},
        Carrying{"v_subrev_co_u32", -1, true, false}, Carrying{"v_subbrev_co_u32", -1, true, true}}) {
    for (int round = 0; round < 40; ++round) {
      const bool clamp = round % 4 == 1;
      Lanes lanes;
      fill(lanes, random);
      const U64 exec = round % 2 ? all_lanes : U64{0x00ff'00ff'1234'5678}, carries = U64{random()} << 32 | random();
      lanes.wave.set_exec(exec);
      lanes.wave.write64(Lanes::mask_source + 4, carries);
      lanes.wave.write64(Lanes::mask_result, ~U64{0});
      lanes.op.modifiers = Modifiers::pack(0, 0, 0, 0, 0, clamp);
      lanes.run(c.mnemonic);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const I64 a = lanes.source(c.reversed ? 1 : 0).lane[i], b = lanes.source(c.reversed ? 0 : 1).lane[i];
        const I64 exact = a + c.sign * (b + (c.carry_in ? I64(carries >> i & 1) : 0));
        const bool active = exec >> i & 1;
        ASSERT_EQ(lanes.mask() >> i & 1, U64{active && (exact < 0 || exact > umax)}) << c.mnemonic;
        if (active)
          ASSERT_EQ(lanes.result().lane[i], clamp ? U(saturate(exact, 0, umax)) : U(exact)) << c.mnemonic;
        else
          ASSERT_EQ(lanes.result().lane[i], 0u);
      }
    }
    note_tested(c.mnemonic, isa::Processor::gfx942);
  }
}

TEST(ValuInteger, wide_products_carry_out_of_their_sum) {
  std::mt19937 random(14);
  for (const bool is_signed : {false, true})
    for (int round = 0; round < 20; ++round) {
      Lanes lanes;
      fill(lanes, random);
      lanes.run(is_signed ? "v_mad_i64_i32" : "v_mad_u64_u32");
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const U a = lanes.source(0).lane[i], b = lanes.source(1).lane[i];
        const U64 c = value(lanes, 2, i), product = is_signed ? U64(I64(I(a)) * I(b)) : U64{a} * b;
        // Bit 64 of the sum of two numbers of 65 bits, sign-extended or not.
        const U64 top =
            is_signed ? (product >> 63) ^ (c >> 63) ^ U64 { product + c < product } : U64{product + c < product};
        ASSERT_EQ(lanes.result64(i), product + c);
        ASSERT_EQ(lanes.mask() >> i & 1, top) << is_signed << std::hex << " " << a << " " << b << " " << c;
      }
    }
}

TEST(ValuInteger, dot_products_accumulate_in_their_destination) {
  std::mt19937 random(15);
  for (const auto& [mnemonic, width] :
       {std::pair{"v_dot2c_i32_i16", 16u}, {"v_dot4c_i32_i8", 8u}, {"v_dot8c_i32_i4", 4u}}) {
    for (int round = 0; round < 20; ++round) {
      Lanes lanes;
      fill(lanes, random);
      for (unsigned i = 0; i < machine::lanes; ++i) lanes.result().lane[i] = interesting_word(random);
      const Row old = lanes.result();
      lanes.op.modifiers = Modifiers::pack(0, 0, 0, 0, 0, round % 2);
      lanes.run(mnemonic, isa::Processor::gfx908);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const I64 exact = dot(lanes.source(0).lane[i], lanes.source(1).lane[i], width, true) + I(old.lane[i]);
        ASSERT_EQ(lanes.result().lane[i], round % 2 ? U(saturate(exact, imin, imax)) : U(exact)) << mnemonic;
      }
    }
    note_tested(mnemonic, isa::Processor::gfx908);
  }
}

TEST(ValuInteger, the_destination_may_be_a_source_of_an_instruction_with_carry) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(0, i, 0xfffffff0 + i), lanes.set(1, i, 0x20);
  lanes.op.dst = lanes.op.src[0];
  lanes.run("v_add_co_u32");
  for (unsigned i = 0; i < machine::lanes; ++i) {
    EXPECT_EQ(lanes.source(0).lane[i], U(0xfffffff0 + i + 0x20));
    EXPECT_EQ(lanes.mask() >> i & 1, i < 16 ? 1u : (uint64_t{U(0xfffffff0 + i)} + 0x20) >> 32);
  }
}

TEST(ValuInteger, mbcnt_counts_the_lanes_below) {
  std::mt19937 random(16);
  for (const bool high : {false, true})
    for (int round = 0; round < 10; ++round) {
      Lanes lanes;
      fill(lanes, random);
      lanes.run(high ? "v_mbcnt_hi_u32_b32" : "v_mbcnt_lo_u32_b32");
      for (unsigned i = 0; i < machine::lanes; ++i) {
        U count = lanes.source(1).lane[i];
        for (unsigned lane = 0; lane < i; ++lane)
          if ((lane >= 32) == high) count += lanes.source(0).lane[i] >> (lane % 32) & 1;
        ASSERT_EQ(lanes.result().lane[i], count) << i;
      }
    }
  note_tested("v_mbcnt_lo_u32_b32", isa::Processor::gfx942);
  note_tested("v_mbcnt_hi_u32_b32", isa::Processor::gfx942);
}

TEST(ValuInteger, cndmask_takes_the_second_source_where_the_mask_is_set) {
  std::mt19937 random(17);
  for (const U64 mask : {U64{0x5555'0000'ffff'1111}, U64{0}, ~U64{0}}) {
    Lanes lanes;
    fill(lanes, random);
    lanes.wave.write64(Lanes::mask_source + 4, mask);
    lanes.run("v_cndmask_b32");
    for (unsigned i = 0; i < machine::lanes; ++i)
      ASSERT_EQ(lanes.result().lane[i], lanes.source(mask >> i & 1 ? 1 : 0).lane[i]);
  }
  note_tested("v_cndmask_b32", isa::Processor::gfx942);
}

TEST(ValuInteger, bitop3_looks_its_result_up_in_a_truth_table) {
  std::mt19937 random(5);
  for (U truth = 0; truth < 256; ++truth) {
    Lanes lanes;
    fill(lanes, random);
    lanes.op.modifiers = Modifiers::pack(truth & 7, truth >> 3 & 7, 0, 0, truth >> 6, 0);
    lanes.run("v_bitop3_b32", isa::Processor::gfx950);
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const U a = lanes.source(0).lane[i], b = lanes.source(1).lane[i], c = lanes.source(2).lane[i];
      U expected = 0;
      for (unsigned k = 0; k < 32; ++k)
        expected |= (truth >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1)) & 1) << k;
      ASSERT_EQ(lanes.result().lane[i], expected);
    }
  }
  note_tested("v_bitop3_b32", isa::Processor::gfx950);
}

TEST(ValuInteger, quad_sads_slide_a_window_over_eight_bytes) {
  std::mt19937 random(6);
  for (const std::string_view mnemonic : {"v_qsad_pk_u16_u8", "v_mqsad_pk_u16_u8", "v_mqsad_u32_u8"}) {
    const bool masked = mnemonic[2] == 'm', words = mnemonic.ends_with("u32_u8");
    for (int round = 0; round < 20; ++round) {
      const bool clamp = round % 2;
      Lanes lanes;
      fill(lanes, random);
      for (unsigned k = 2; k < 4; ++k)
        for (unsigned i = 0; i < machine::lanes; ++i) lanes.source(2, k).lane[i] = interesting_word(random);
      lanes.op.modifiers = Modifiers::pack(0, 0, 0, 0, 0, clamp);
      lanes.run(mnemonic);
      for (unsigned i = 0; i < machine::lanes; ++i)
        for (unsigned k = 0; k < 4; ++k) {
          const U window = U(value(lanes, 0, i) >> (8 * k));
          const I64 old = words ? lanes.source(2, k).lane[i] : U(value(lanes, 2, i) >> (16 * k)) & 0xffff;
          const I64 exact = old + sad(window, lanes.source(1).lane[i], masked), most = words ? umax : 0xffff;
          const U got = words ? lanes.result(k).lane[i] : U(lanes.result64(i) >> (16 * k)) & 0xffff;
          ASSERT_EQ(got, clamp ? U(std::min(exact, most)) : U(exact) & U(most)) << mnemonic << " part " << k;
        }
    }
    note_tested(mnemonic, isa::Processor::gfx942);
  }
}

} // namespace
} // namespace asmevo::machine
