// Conversions: between float formats, to and from integers, to normalised integers, with stochastic rounding, with
// block scales.
//
// The rounding mode of a conversion is that of its destination's format, as LLVM's instruction flags say
// (FPDPRounding is set on v_cvt_f16_f32 and clear on v_cvt_f32_f64).
#pragma once

#include "machine/numeric/arithmetic.h"

#include <limits>

namespace asmevo::machine::numeric {
inline namespace ASMEVO_LEVEL {

/// A NaN of format From in format To: sign and leading payload bits kept where both have payloads.
template <class To, class From> constexpr typename To::Bits convert_nan(typename From::Bits x, bool make_quiet) {
  using Bits = typename To::Bits;
  if constexpr (To::special == Special::fnuz) return To::nan;
  const bool negative = (x & From::sign) != 0;
  if constexpr (To::special != Special::ieee || From::special != Special::ieee) {
    return Bits((negative ? To::sign : Bits{0}) | Bits(To::nan & Bits(~To::sign)));
  } else {
    constexpr int up = To::fraction_bits - From::fraction_bits;
    const uint64_t payload = x & From::fraction_mask;
    Bits fraction = 0;
    if constexpr (up >= 0)
      fraction = Bits(payload << up);
    else
      fraction = Bits(payload >> -up);
    if (make_quiet || !fraction) fraction |= To::quiet_bit;
    return Bits((negative ? To::sign : Bits{0}) | To::infinity | fraction);
  }
}

/// `e` is the environment of the destination; `flush_source` that of the source. `saturate` sends finite overflow and
/// infinity to the largest number.
template <class To, class From> constexpr typename To::Bits convert(typename From::Bits x, const Environment& e,
                                                                    bool flush_source = false, bool saturate = false) {
  if (flush_source) x = flush<From>(x);
  const Number n = unpack<From>(x);
  switch (n.kind) {
  case Kind::nan:
    return convert_nan<To, From>(x, e.ieee);
  case Kind::infinity:
    return overflow<To>(n.negative, Round::nearest_even, saturate);
  case Kind::zero:
    return zero<To>(n.negative);
  case Kind::finite:
    break;
  }
  return round_to<To>(n.negative, n.significand, n.exponent, e.round, e.flush_outputs, saturate);
}

/// Stochastic rounding: `random` is added below the last kept bit of To, then the rest is cut off. The random bits are
/// taken from the top of the word, as many as the conversion drops for a normal result.
template <class To, class From> constexpr typename To::Bits convert_stochastic(typename From::Bits x, uint32_t random,
                                                                               bool saturate, int scale_exponent = 0) {
  const Number n = unpack<From>(x);
  if (n.kind != Kind::finite) return convert<To, From>(x, {.ieee = true}, false, saturate);
  const int width = bit_width(n.significand);
  const int top = n.exponent + scale_exponent + width - 1;
  const int leading = top > To::min_exponent ? top : To::min_exponent;
  // Align the significand so that its kept part ends at bit 64, then add the random word in the 32 bits below.
  const int kept_end = leading - To::fraction_bits;                  // exponent of the last kept bit
  const int shift = 64 - (kept_end - (n.exponent + scale_exponent)); // left shift that brings it to bit 64
  const u128 aligned = shift >= 0 ? u128{n.significand} << shift : shift_right_sticky(n.significand, -shift);
  const u128 dithered = aligned + (u128{random} << 32);
  return round_to<To>(n.negative, dithered >> 64, kept_end, Round::zero, false, saturate);
}

/// f32 to FP8 or BF8 as v_cvt_sr_*_f32 does it: the random number's top bits are added to the 23 fraction bits, which
/// wrap, and the sum is rounded to nearest even.
template <class To> constexpr typename To::Bits convert_dithered(uint32_t x, uint32_t random, bool saturate) {
  constexpr uint32_t fraction = Binary32::fraction_mask;
  constexpr int down = 9 + To::fraction_bits; // leaves the random number just below To's last bit
  if (!is_nan<Binary32>(x) && !is_infinity<Binary32>(x))
    x = (x & ~fraction) | (((x & fraction) + (random >> down)) & fraction);
  return convert<To, Binary32>(x, {.ieee = true}, false, saturate);
}

/// x * 2^scale_exponent in To. Block-scaled conversions divide by or multiply with a power of two before rounding once.
template <class To, class From>
constexpr typename To::Bits convert_scaled(typename From::Bits x, int scale_exponent, Round round, bool saturate) {
  const Number n = unpack<From>(x);
  if (n.kind != Kind::finite) return convert<To, From>(x, {.ieee = true}, false, saturate);
  return round_to<To>(n.negative, n.significand, n.exponent + scale_exponent, round, false, saturate);
}

/// Float to integer: rounded in the given direction, saturated; NaN gives 0.
template <class Integer, class F> constexpr Integer to_integer(typename F::Bits x, Round round) {
  using Limits = std::numeric_limits<Integer>;
  const Number n = unpack<F>(x);
  if (n.kind == Kind::nan || n.kind == Kind::zero) return 0;
  const Integer bound = n.negative ? Limits::min() : Limits::max();
  if (n.kind == Kind::infinity || n.exponent + bit_width(n.significand) > Limits::digits + 1) return bound;
  const u128 whole =
      n.exponent >= 0 ? u128{n.significand} << n.exponent : round_shift(n.significand, -n.exponent, n.negative, round);
  const u128 limit =
      n.negative ? (Limits::is_signed ? u128{uint64_t(Limits::max())} + 1 : 0) : u128{uint64_t(Limits::max())};
  if (whole >= limit) return bound;
  return n.negative ? Integer(-int64_t(whole)) : Integer(uint64_t(whole));
}

template <class F> constexpr typename F::Bits from_integer(int64_t x, const Environment& e) {
  const bool negative = x < 0;
  return round_to<F>(negative, negative ? uint64_t{0} - uint64_t(x) : uint64_t(x), 0, e.round, e.flush_outputs);
}

/// floor(x + 0.5), exactly, as an integer.
template <class F> constexpr int32_t to_integer_half_up(typename F::Bits x) {
  const Number n = unpack<F>(x);
  if (n.kind != Kind::finite || n.exponent >= 0) return to_integer<int32_t, F>(x, Round::down);
  const Term t = sum({n.negative, n.significand, n.exponent}, {false, 1, -1});
  if (!t.significand) return 0;
  const u128 whole =
      t.exponent < 0 ? round_shift(t.significand, -t.exponent, t.negative, Round::down) : t.significand << t.exponent;
  constexpr int64_t high = std::numeric_limits<int32_t>::max(), low = std::numeric_limits<int32_t>::min();
  const int64_t value = whole > u128{uint64_t(1) << 40} ? int64_t{1} << 40 : int64_t(whole);
  const int64_t result = t.negative ? -value : value;
  return int32_t(result > high ? high : result < low ? low : result);
}

/// f32 or f16 to a normalised 16-bit integer: clamped to [-1, 1] or [0, 1], times 32767 or 65535, to nearest even.
template <class Integer, class F> constexpr Integer to_normalised(typename F::Bits x) {
  constexpr auto one = typename F::Bits(typename F::Bits(F::bias) << F::fraction_bits);
  constexpr int64_t factor = std::numeric_limits<Integer>::max();
  if (is_nan<F>(x)) return 0;
  if (absolute<F>(x) >= one) {
    if (!(x & F::sign)) return Integer(factor);
    return std::numeric_limits<Integer>::is_signed ? Integer(-factor) : Integer(0);
  }
  const Number n = unpack<F>(x);
  if (n.negative && !std::numeric_limits<Integer>::is_signed) return 0;
  const u128 whole = round_shift(u128{n.significand} * uint64_t(factor), -n.exponent, n.negative, Round::nearest_even);
  return n.negative ? Integer(-int64_t(whole)) : Integer(int64_t(whole));
}

/// v_cvt_off_f32_i4: the low four bits, signed, as sixteenths.
constexpr uint32_t offset_of_nibble(uint32_t x) {
  const int32_t value = int32_t(x << 28) >> 28;
  return round_to<Binary32>(value < 0, uint64_t(value < 0 ? -value : value), -4, Round::zero);
}

} // namespace ASMEVO_LEVEL
} // namespace asmevo::machine::numeric
