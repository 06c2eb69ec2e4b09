// Approximate instructions: reciprocal, square root, 2^x, log2, sine and cosine.
//
// The hardware's rounding of these is unpublished ("1 ulp"), so no simulator can give its bits. Ours are computed in
// double and rounded once: within 0.51 ulp of the true value, and the same on every host, because only + - * / and sqrt
// of IEEE double are used, none of them contracted. Instructions that come from here are marked approximate.
//
// Special values do follow the manual. The f32 instructions know no subnormals, whatever MODE says: they read as zero
// and results that small become zero (LLVM's expansions of exp2, log2, division and sqrt rest on that). Sine and cosine
// take revolutions, and answer 0 and 1 outside of [-256, 256].
//
// The functions are branch-free on purpose: loops over lanes must turn into vector code. They assume nothing of their
// input but give a meaningful result only where the wrappers at the end of the file let it through.
#pragma once

#include "machine/numeric/convert.h"

namespace asmevo::machine::numeric {
inline namespace ASMEVO_LEVEL {

#define AE_NUMERIC [[gnu::always_inline]] inline

AE_NUMERIC double double_of(uint64_t bits) { return std::bit_cast<double>(bits); }
AE_NUMERIC uint64_t bits_of(double x) { return std::bit_cast<uint64_t>(x); }
AE_NUMERIC float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }
AE_NUMERIC uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }

/// Adding and subtracting it rounds a double below 2^51 to an integer, to nearest even; after the addition the integer
/// stands in the low bits.
inline constexpr double round_shifter = 0x1.8p52;

/// 2^x for |x| < 1000.
AE_NUMERIC double exp2_double(double x) {
  const double shifted = x + round_shifter;
  const double whole = shifted - round_shifter;
  const double f = x - whole; // in [-1/2, 1/2]
  // Taylor series of 2^f: ln(2)^k / k!. What is cut off is below 2^-42.
  double p = 0x1.e4cf5158b8ecap-28;
  p = p * f + 0x1.b5253d395e7c4p-24;
  p = p * f + 0x1.62c0223a5c824p-20;
  p = p * f + 0x1.ffcbfc588b0c7p-17;
  p = p * f + 0x1.430912f86c787p-13;
  p = p * f + 0x1.5d87fe78a6731p-10;
  p = p * f + 0x1.3b2ab6fba4e77p-7;
  p = p * f + 0x1.c6b08d704a0c0p-5;
  p = p * f + 0x1.ebfbdff82c58fp-3;
  p = p * f + 0x1.62e42fefa39efp-1;
  p = p * f + 1.0;
  return double_of(bits_of(p) + (bits_of(shifted) << 52)); // p is in [0.7, 1.42]: its exponent has room
}

/// log2(x) for positive normal x.
AE_NUMERIC double log2_double(double x) {
  constexpr uint64_t sqrt_half = 0x3fe6a09e667f3bcd;
  const uint64_t bits = bits_of(x);
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  const uint64_t offset = bits - sqrt_half;
  const uint64_t exponent_field = offset & 0xfff0000000000000u;
  const double m = double_of(bits - exponent_field);
  const double e = double_of((uint64_t(int64_t(offset) >> 52) + 0x4338000000000000u)) - round_shifter;
  // log2(m) = 2/ln(2) * atanh(t), t = (m-1)/(m+1), |t| < 0.172.
  const double t = (m - 1.0) / (m + 1.0), u = t * t;
  double p = 0x1.5b9ac9b743f0dp-3;
  p = p * u + 0x1.89f3b1694cffep-3;
  p = p * u + 0x1.c68f568d31760p-3;
  p = p * u + 0x1.0c9a84994022dp-2;
  p = p * u + 0x1.484b13d7c02a9p-2;
  p = p * u + 0x1.a61762a7aded9p-2;
  p = p * u + 0x1.2776c50ef9bfep-1;
  p = p * u + 0x1.ec709dc3a03fdp-1;
  p = p * u + 0x1.71547652b82fep+1;
  return e + p * t;
}

/// sin(2 pi r) for |r| <= 1/4.
AE_NUMERIC double sine_of_turns(double r) {
  const double u = r * r;
  double p = 0x1.aaec32af93359p-4;
  p = p * u + -0x1.6fadb9f155744p-1;
  p = p * u + 0x1.e8f434d018d63p+1;
  p = p * u + -0x1.e3074fde8871fp+3;
  p = p * u + 0x1.50783487ee782p+5;
  p = p * u + -0x1.32d2cce62bd86p+6;
  p = p * u + 0x1.466bc6775aae2p+6;
  p = p * u + -0x1.4abbce625be53p+5;
  p = p * u + 0x1.921fb54442d18p+2;
  return p * r;
}
/// x - round(x), for |x| <= 256.
AE_NUMERIC double turn_fraction(double x) { return x - ((x + round_shifter) - round_shifter); }
AE_NUMERIC double magnitude(double x) { return double_of(bits_of(x) & 0x7fffffffffffffffu); }
AE_NUMERIC double with_sign_of(double x, double sign) {
  return double_of((bits_of(x) & 0x7fffffffffffffffu) | (bits_of(sign) & 0x8000000000000000u));
}

AE_NUMERIC double sine_double(double x) {
  const double r = turn_fraction(x), a = magnitude(r);
  const double folded = a > 0.25 ? 0.5 - a : a;
  const double s = sine_of_turns(folded);
  // A zero keeps the argument's sign; sin(whole turns) is 0 of it.
  const double result = with_sign_of(s, a == 0.0 ? x : r);
  return magnitude(x) > 256.0 ? 0.0 : result;
}
AE_NUMERIC double cosine_double(double x) {
  const double s = sine_of_turns(0.25 - magnitude(turn_fraction(x)));
  return magnitude(x) > 256.0 ? 1.0 : s;
}

// One instruction each: `compute` in double for arguments where it means something, the special cases in `special`.
struct Exp2 {
  AE_NUMERIC static double compute(double x) {
    const double capped = x < -1000.0 ? -1000.0 : x > 1000.0 ? 1000.0 : x;
    return exp2_double(capped);
  }
  template <class F> static constexpr typename F::Bits at_infinity(bool negative) {
    return negative ? typename F::Bits{0} : F::infinity;
  }
  template <class F> static constexpr typename F::Bits at_zero(bool) {
    return typename F::Bits(typename F::Bits(F::bias) << F::fraction_bits);
  }
  static constexpr bool negative_is_invalid = false;
};
struct Log2 {
  AE_NUMERIC static double compute(double x) { return log2_double(x); }
  template <class F> static constexpr typename F::Bits at_infinity(bool negative) {
    return negative ? F::nan : F::infinity;
  }
  template <class F> static constexpr typename F::Bits at_zero(bool) { return typename F::Bits(F::sign | F::infinity); }
  static constexpr bool negative_is_invalid = true;
};
struct Reciprocal {
  AE_NUMERIC static double compute(double x) { return 1.0 / x; }
  template <class F> static constexpr typename F::Bits at_infinity(bool negative) { return zero<F>(negative); }
  template <class F> static constexpr typename F::Bits at_zero(bool negative) {
    return typename F::Bits((negative ? F::sign : 0) | F::infinity);
  }
  static constexpr bool negative_is_invalid = false;
};
struct ReciprocalRoot {
  AE_NUMERIC static double compute(double x) { return 1.0 / __builtin_sqrt(x); }
  template <class F> static constexpr typename F::Bits at_infinity(bool negative) {
    return negative ? F::nan : typename F::Bits{0};
  }
  template <class F> static constexpr typename F::Bits at_zero(bool negative) {
    return Reciprocal::at_zero<F>(negative);
  }
  static constexpr bool negative_is_invalid = true;
};
struct Root {
  AE_NUMERIC static double compute(double x) { return __builtin_sqrt(x); }
  template <class F> static constexpr typename F::Bits at_infinity(bool negative) {
    return negative ? F::nan : F::infinity;
  }
  template <class F> static constexpr typename F::Bits at_zero(bool negative) { return zero<F>(negative); }
  static constexpr bool negative_is_invalid = true;
};
struct Sine {
  AE_NUMERIC static double compute(double x) { return sine_double(x); }
  template <class F> static constexpr typename F::Bits at_infinity(bool) { return F::nan; }
  template <class F> static constexpr typename F::Bits at_zero(bool negative) { return zero<F>(negative); }
  static constexpr bool negative_is_invalid = false;
};
struct Cosine {
  AE_NUMERIC static double compute(double x) { return cosine_double(x); }
  template <class F> static constexpr typename F::Bits at_infinity(bool) { return F::nan; }
  template <class F> static constexpr typename F::Bits at_zero(bool) { return Exp2::at_zero<F>(false); }
  static constexpr bool negative_is_invalid = false;
};

/// The environment an approximate f32 instruction really works in.
constexpr Environment without_subnormals(Environment e) {
  e.flush_inputs = e.flush_outputs = true;
  return e;
}

/// The instruction on one value, special cases included. The result is rounded to nearest even in every mode.
template <class Function, class F> inline typename F::Bits approximate(typename F::Bits x, const Environment& e) {
  x = flush_input<F>(x, e);
  if (is_nan<F>(x)) return propagate<F>(x, e);
  const bool negative = (x & F::sign) != 0;
  if (!absolute<F>(x)) return Function::template at_zero<F>(negative);
  if (is_infinity<F>(x)) return Function::template at_infinity<F>(negative);
  if (negative && Function::negative_is_invalid) return F::nan;
  const double argument = double_of(convert<Binary64, F>(x, {}));
  return convert<F, Binary64>(bits_of(Function::compute(argument)), {.flush_outputs = e.flush_outputs});
}

} // namespace ASMEVO_LEVEL
} // namespace asmevo::machine::numeric
