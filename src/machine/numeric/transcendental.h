// Approximate instructions: reciprocal, square root, 2^x, log2, sine and cosine.
//
// The hardware's rounding of these is unpublished ("1 ulp"), so no simulator can give its bits. Ours are computed in
// double and rounded once: within 0.51 ulp of the true value, and the same on every host, because only + - * /, fma and
// sqrt of IEEE double are used, and the compiler contracts none of them. Instructions that come from here are marked
// approximate.
//
// Special values do follow the manual. The f32 instructions know no subnormals, whatever MODE says: they read as zero
// and results that small become zero (LLVM's expansions of exp2, log2, division and sqrt rest on that). Sine and cosine
// take revolutions, and answer 0 and 1 outside of [-256, 256].
//
// The functions are branch-free on purpose, and know their number type only by its operators and by bits_of,
// doubles_of, fused and select: the same definitions run on a double and on vectors of them. They assume nothing of
// their input but give a meaningful result only where the wrappers at the end of the file let it through.
#pragma once

#include "machine/numeric/convert.h"

#include <cstddef>

namespace asmevo::machine::numeric {
inline namespace ASMEVO_LEVEL {

#define AE_NUMERIC [[gnu::always_inline]] inline

AE_NUMERIC double double_of(uint64_t bits) { return std::bit_cast<double>(bits); }
AE_NUMERIC uint64_t bits_of(double x) { return std::bit_cast<uint64_t>(x); }
AE_NUMERIC float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }
AE_NUMERIC uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }

// The vocabulary of the functions, for one double.
AE_NUMERIC double doubles_of(uint64_t bits) { return std::bit_cast<double>(bits); }
AE_NUMERIC double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
AE_NUMERIC double square_root(double x) { return __builtin_sqrt(x); }
AE_NUMERIC double select(bool c, double a, double b) { return c ? a : b; }
/// p0 + x * (p1 + x * ...), the highest power first.
template <class T, std::size_t n> AE_NUMERIC T polynomial(T x, const double (&coefficients)[n]) {
  T p = T(coefficients[0]);
  for (std::size_t k = 1; k < n; ++k) p = fused(p, x, T(coefficients[k]));
  return p;
}

/// Adding and subtracting it rounds a double below 2^51 to an integer, to nearest even; after the addition the integer
/// stands in the low bits.
inline constexpr double round_shifter = 0x1.8p52;

/// 2^x for |x| < 1000.
template <class T> AE_NUMERIC T exp2_double(T x) {
  const T shifted = x + T(round_shifter);
  const T whole = shifted - T(round_shifter);
  const T f = x - whole; // in [-1/2, 1/2]
  // 1 + f q(f), q of degree 6 chosen for the least relative error there: 2^-32.
  constexpr double coefficients[] = {
      0x1.c047dd4cafad4p-17, 0x1.443f96103e7d4p-13, 0x1.5dc05177c8e38p-10, 0x1.3b2a1bf590cd0p-7,
      0x1.c6b0551d2eaf4p-5,  0x1.ebfbe045704b8p-3,  0x1.62e4300b9db96p-1,  1.0};
  const T p = polynomial(f, coefficients); // in [0.7, 1.42]: its exponent has room
  return doubles_of(bits_of(p) + (bits_of(shifted) << 52));
}

/// log2(x) for positive normal x.
template <class T> AE_NUMERIC T log2_double(T x) {
  constexpr uint64_t sqrt_half = 0x3fe6a09e667f3bcd;
  const auto bits = bits_of(x);
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  const auto offset = bits - sqrt_half;
  const T m = doubles_of(bits - (offset & 0xfff0000000000000u));
  // The exponent, with a bias that keeps the shift free of signs, becomes the low bits of round_shifter.
  const auto exponent = (offset + 0x4000000000000000u) >> 52;
  const T e = doubles_of(exponent + (0x4338000000000000u - 0x400u)) - T(round_shifter);
  // log2(m) = 2/ln(2) * atanh(t), t = (m-1)/(m+1), |t| < 0.172.
  const T t = (m - T(1.0)) / (m + T(1.0));
  constexpr double coefficients[] = {0x1.5b9ac9b743f0dp-3, 0x1.89f3b1694cffep-3, 0x1.c68f568d31760p-3,
                                     0x1.0c9a84994022dp-2, 0x1.484b13d7c02a9p-2, 0x1.a61762a7aded9p-2,
                                     0x1.2776c50ef9bfep-1, 0x1.ec709dc3a03fdp-1, 0x1.71547652b82fep+1};
  return fused(polynomial(t * t, coefficients), t, e);
}

/// sin(2 pi r) for |r| <= 1/4.
template <class T> AE_NUMERIC T sine_of_turns(T r) {
  constexpr double coefficients[] = {0x1.aaec32af93359p-4,  -0x1.6fadb9f155744p-1, 0x1.e8f434d018d63p+1,
                                     -0x1.e3074fde8871fp+3, 0x1.50783487ee782p+5,  -0x1.32d2cce62bd86p+6,
                                     0x1.466bc6775aae2p+6,  -0x1.4abbce625be53p+5, 0x1.921fb54442d18p+2};
  return polynomial(r * r, coefficients) * r;
}
/// x - round(x), for |x| <= 256.
template <class T> AE_NUMERIC T turn_fraction(T x) { return x - ((x + T(round_shifter)) - T(round_shifter)); }
template <class T> AE_NUMERIC T magnitude(T x) { return doubles_of(bits_of(x) & 0x7fffffffffffffffu); }
template <class T> AE_NUMERIC T with_sign_of(T x, T sign) {
  return doubles_of((bits_of(x) & 0x7fffffffffffffffu) | (bits_of(sign) & 0x8000000000000000u));
}

template <class T> AE_NUMERIC T sine_double(T x) {
  const T r = turn_fraction(x), a = magnitude(r);
  const T s = sine_of_turns(select(a > T(0.25), T(0.5) - a, a));
  // A zero keeps the argument's sign; sin(whole turns) is 0 of it.
  const T result = with_sign_of(s, select(a == T(0.0), x, r));
  return select(magnitude(x) > T(256.0), T(0.0), result);
}
template <class T> AE_NUMERIC T cosine_double(T x) {
  const T s = sine_of_turns(T(0.25) - magnitude(turn_fraction(x)));
  return select(magnitude(x) > T(256.0), T(1.0), s);
}

// One instruction each: `compute` in double for arguments where it means something, the special cases in `special`.
struct Exp2 {
  template <class T> AE_NUMERIC static T compute(T x) {
    return exp2_double(select(x < T(-1000.0), T(-1000.0), select(x > T(1000.0), T(1000.0), x)));
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
  template <class T> AE_NUMERIC static T compute(T x) { return log2_double(x); }
  template <class F> static constexpr typename F::Bits at_infinity(bool negative) {
    return negative ? F::nan : F::infinity;
  }
  template <class F> static constexpr typename F::Bits at_zero(bool) { return typename F::Bits(F::sign | F::infinity); }
  static constexpr bool negative_is_invalid = true;
};
struct Reciprocal {
  template <class T> AE_NUMERIC static T compute(T x) { return T(1.0) / x; }
  template <class F> static constexpr typename F::Bits at_infinity(bool negative) { return zero<F>(negative); }
  template <class F> static constexpr typename F::Bits at_zero(bool negative) {
    return typename F::Bits((negative ? F::sign : 0) | F::infinity);
  }
  static constexpr bool negative_is_invalid = false;
};
struct ReciprocalRoot {
  template <class T> AE_NUMERIC static T compute(T x) { return T(1.0) / square_root(x); }
  template <class F> static constexpr typename F::Bits at_infinity(bool negative) {
    return negative ? F::nan : typename F::Bits{0};
  }
  template <class F> static constexpr typename F::Bits at_zero(bool negative) {
    return Reciprocal::at_zero<F>(negative);
  }
  static constexpr bool negative_is_invalid = true;
};
struct Root {
  template <class T> AE_NUMERIC static T compute(T x) { return square_root(x); }
  template <class F> static constexpr typename F::Bits at_infinity(bool negative) {
    return negative ? F::nan : F::infinity;
  }
  template <class F> static constexpr typename F::Bits at_zero(bool negative) { return zero<F>(negative); }
  static constexpr bool negative_is_invalid = true;
};
struct Sine {
  template <class T> AE_NUMERIC static T compute(T x) { return sine_double(x); }
  template <class F> static constexpr typename F::Bits at_infinity(bool) { return F::nan; }
  template <class F> static constexpr typename F::Bits at_zero(bool negative) { return zero<F>(negative); }
  static constexpr bool negative_is_invalid = false;
};
struct Cosine {
  template <class T> AE_NUMERIC static T compute(T x) { return cosine_double(x); }
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
