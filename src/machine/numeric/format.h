// Number formats of the CDNA machines, and rounding to them.
//
// The machines know eleven binary floating-point formats, and they differ in more than their widths: FP8 has an
// infinity or not, the FNUZ kind of gfx940 has one NaN (0x80) and no negative zero, FP6 and FP4 have numbers only.
// Everything that rounds, in any of them, is one function: round_to(), from an exact significand in 128 bits. Exact
// arithmetic (arithmetic.h) and conversions (convert.h) only have to produce that significand.
//
// All of it is integer code: the same results on every host, at every optimisation level, and at compile time.
#pragma once

#include "machine/numeric/level.h"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace asmevo::machine::numeric {
inline namespace ASMEVO_LEVEL {

__extension__ typedef unsigned __int128 u128;

/// MODE.round, in the hardware's encoding, for one of its two fields.
enum class Round : uint8_t { nearest_even = 0, up = 1, down = 2, zero = 3 };

/// How one instruction treats numbers of one format.
struct Environment {
  Round round = Round::nearest_even;
  bool flush_inputs = false;  // a subnormal source reads as zero of its sign
  bool flush_outputs = false; // a result that rounds to a subnormal becomes zero of its sign
  bool ieee = false;          // MODE.ieee: minimum and maximum quiet and return signalling NaNs
};

enum class Special : uint8_t {
  ieee,    // exponent all ones: infinity, or NaN with a quiet bit
  one_nan, // E4M3 of OCP: all ones is NaN; no infinity
  fnuz,    // sign alone is NaN; no infinity, no negative zero
  none,    // every code is a number
};

template <class BitsT, int Exponent, int Fraction, int Bias, Special S> struct Format {
  using Bits = BitsT;
  static constexpr int exponent_bits = Exponent, fraction_bits = Fraction, bias = Bias;
  static constexpr Special special = S;
  static constexpr int width = 1 + Exponent + Fraction;
  static constexpr Bits sign = Bits(Bits{1} << (width - 1));
  static constexpr Bits fraction_mask = Bits((Bits{1} << Fraction) - 1);
  static constexpr int exponent_mask = (1 << Exponent) - 1;
  static constexpr int min_exponent = 1 - Bias;                           // of the smallest normal
  static constexpr Bits infinity = Bits(Bits(exponent_mask) << Fraction); // Special::ieee only
  static constexpr Bits quiet_bit = Bits(Bits{1} << (Fraction - 1));
  /// The largest finite magnitude.
  static constexpr Bits largest = S == Special::ieee      ? Bits(infinity - 1)
                                  : S == Special::one_nan ? Bits(sign - 2)
                                                          : Bits(sign - 1);
  /// What an invalid operation gives. AMD's manuals show sign and quiet bit in every example (sqrt(-1) = 0xffc00000).
  static constexpr Bits nan = S == Special::ieee      ? Bits(sign | infinity | quiet_bit)
                              : S == Special::one_nan ? Bits(sign - 1)
                                                      : sign;
};

using Binary64 = Format<uint64_t, 11, 52, 1023, Special::ieee>;
using Binary32 = Format<uint32_t, 8, 23, 127, Special::ieee>;
using Binary16 = Format<uint16_t, 5, 10, 15, Special::ieee>;
using Bfloat16 = Format<uint16_t, 8, 7, 127, Special::ieee>;
using Fp8Ocp = Format<uint8_t, 4, 3, 7, Special::one_nan>; // gfx950
using Bf8Ocp = Format<uint8_t, 5, 2, 15, Special::ieee>;
using Fp8Fnuz = Format<uint8_t, 4, 3, 8, Special::fnuz>; // gfx942
using Bf8Fnuz = Format<uint8_t, 5, 2, 16, Special::fnuz>;
using Fp6 = Format<uint8_t, 2, 3, 1, Special::none>;
using Bf6 = Format<uint8_t, 3, 2, 3, Special::none>;
using Fp4 = Format<uint8_t, 2, 1, 1, Special::none>;

enum class Kind : uint8_t { zero, finite, infinity, nan };

/// A number taken apart: (-1)^negative * significand * 2^exponent for `finite`.
struct Number {
  Kind kind = Kind::zero;
  bool negative = false;
  int exponent = 0;
  uint64_t significand = 0;
};

template <class F> constexpr bool is_nan(typename F::Bits x) {
  using Bits = typename F::Bits;
  if constexpr (F::special == Special::ieee) return Bits(x & Bits(~F::sign)) > F::infinity;
  if constexpr (F::special == Special::one_nan) return Bits(x & Bits(~F::sign)) == Bits(F::sign - 1);
  if constexpr (F::special == Special::fnuz) return x == F::sign;
  return false;
}
template <class F> constexpr bool is_infinity(typename F::Bits x) {
  return F::special == Special::ieee && typename F::Bits(x & typename F::Bits(~F::sign)) == F::infinity;
}
template <class F> constexpr bool is_signalling(typename F::Bits x) {
  return F::special == Special::ieee && is_nan<F>(x) && !(x & F::quiet_bit);
}
template <class F> constexpr bool is_subnormal(typename F::Bits x) {
  using Bits = typename F::Bits;
  return Bits(x & F::fraction_mask) != 0 && Bits(Bits(x >> F::fraction_bits) & Bits(F::exponent_mask)) == 0;
}
template <class F> constexpr typename F::Bits quiet(typename F::Bits x) {
  return F::special == Special::ieee ? typename F::Bits(x | F::quiet_bit) : x;
}
/// A subnormal becomes zero of its sign.
template <class F> constexpr typename F::Bits flush(typename F::Bits x) {
  return is_subnormal<F>(x) ? typename F::Bits(x & F::sign) : x;
}
template <class F> constexpr int biased_exponent(typename F::Bits x) {
  return int(x >> F::fraction_bits) & F::exponent_mask;
}

template <class F> constexpr Number unpack(typename F::Bits x) {
  Number n;
  n.negative = (x & F::sign) != 0;
  if (is_nan<F>(x)) {
    n.kind = Kind::nan;
  } else if (is_infinity<F>(x)) {
    n.kind = Kind::infinity;
  } else {
    const int e = biased_exponent<F>(x);
    n.significand = uint64_t(x & F::fraction_mask) | (e ? uint64_t{1} << F::fraction_bits : 0);
    n.exponent = (e ? e : 1) - F::bias - F::fraction_bits;
    n.kind = n.significand ? Kind::finite : Kind::zero;
  }
  return n;
}

constexpr int bit_width(u128 x) {
  const auto high = uint64_t(x >> 64);
  return high ? 128 - std::countl_zero(high) : 64 - std::countl_zero(uint64_t(x));
}

template <class F> constexpr typename F::Bits zero(bool negative) {
  return negative && F::special != Special::fnuz ? F::sign : typename F::Bits{0};
}

/// What too large a magnitude becomes: infinity, or the largest number where the rounding direction or `saturate` says
/// so; a format without infinity has its NaN (or saturates where it has none).
template <class F> constexpr typename F::Bits overflow(bool negative, Round round, bool saturate = false) {
  using Bits = typename F::Bits;
  const Bits sign = negative ? F::sign : Bits{0};
  const bool toward_zero =
      round == Round::zero || (round == Round::up && negative) || (round == Round::down && !negative);
  if (saturate || toward_zero || F::special == Special::none) return Bits(sign | F::largest);
  if constexpr (F::special == Special::ieee) return Bits(sign | F::infinity);
  return F::special == Special::fnuz ? F::nan : Bits(sign | F::nan);
}

/// Drops the low `shift` bits, rounding as told. Shifts of 128 and more leave only the sticky part.
constexpr u128 round_shift(u128 significand, int shift, bool negative, Round round) {
  if (shift <= 0) return significand;
  const u128 kept = shift < 128 ? significand >> shift : 0;
  const u128 lost = shift < 128 ? significand & ((u128{1} << shift) - 1) : significand;
  bool increment = false;
  switch (round) {
  case Round::nearest_even: {
    if (shift > 128) break;
    const u128 half = u128{1} << (shift - 1);
    increment = lost > half || (lost == half && (kept & 1));
    break;
  }
  case Round::up:
    increment = lost && !negative;
    break;
  case Round::down:
    increment = lost && negative;
    break;
  case Round::zero:
    break;
  }
  return kept + (increment ? 1 : 0);
}

/// (-1)^negative * significand * 2^exponent in format F. The significand may carry a sticky lowest bit as long as it is
/// at least two bits longer than F's. `flush_output` applies after rounding.
template <class F> constexpr typename F::Bits round_to(bool negative, u128 significand, int exponent, Round round,
                                                       bool flush_output = false, bool saturate = false) {
  using Bits = typename F::Bits;
  if (!significand) return zero<F>(negative);
  const int top = exponent + bit_width(significand) - 1;
  const int leading = top > F::min_exponent ? top : F::min_exponent;
  if (leading > F::exponent_mask - F::bias) return overflow<F>(negative, round, saturate);
  const int shift = leading - F::fraction_bits - exponent;
  const u128 rounded = shift <= 0 ? significand << -shift : round_shift(significand, shift, negative, round);
  // The hidden bit of `rounded`, added to the exponent field, makes normals of subnormals and carries into the
  // exponent.
  const uint64_t field = uint64_t(leading - F::min_exponent);
  const uint64_t magnitude = (field << F::fraction_bits) + uint64_t(rounded);
  if (magnitude > uint64_t{F::largest}) return overflow<F>(negative, round, saturate);
  if (magnitude == 0 || (flush_output && !(magnitude >> F::fraction_bits))) return zero<F>(negative);
  return Bits((negative ? F::sign : Bits{0}) | Bits(magnitude));
}

} // namespace ASMEVO_LEVEL
} // namespace asmevo::machine::numeric
