// The three instructions of precise division.
//
// a / b is computed as v_div_scale (twice), v_rcp, a chain of fma, v_div_fmas and v_div_fixup. div_scale moves an
// operand by a power of two where the chain would meet subnormals or overflow, and says by a flag that div_fmas must
// scale the result back; div_fixup puts in the special cases. The conditions are those of the CDNA3 manual's
// pseudocode.
#pragma once

#include "machine/numeric/arithmetic.h"

namespace asmevo::machine::numeric {
inline namespace ASMEVO_LEVEL {

template <class F> struct Scaled {
  typename F::Bits value = 0;
  bool post_scale = false; // what goes to VCC
};

/// Thresholds and scale of one width.
template <class F> struct DivisionLimits;
template <> struct DivisionLimits<Binary32> {
  static constexpr int large_quotient = 96, scale = 64, tiny_numerator = 23, underflow = -150;
};
template <> struct DivisionLimits<Binary64> {
  static constexpr int large_quotient = 768, scale = 128, tiny_numerator = 53, underflow = -1075;
};

/// Exponent of the quotient of two normals: exact comparison with the smallest normal, before rounding.
template <class F> constexpr bool quotient_is_subnormal(typename F::Bits numerator, typename F::Bits denominator) {
  const Number n = unpack<F>(numerator), d = unpack<F>(denominator);
  if (n.kind != Kind::finite || d.kind != Kind::finite) return false;
  // n/d < 2^min_exponent, both significands left-aligned.
  const int up_n = 64 - std::countl_zero(n.significand), up_d = 64 - std::countl_zero(d.significand);
  const uint64_t sn = n.significand << (64 - up_n), sd = d.significand << (64 - up_d);
  const int exponent = (n.exponent + up_n) - (d.exponent + up_d);
  // n/d = (sn/sd) * 2^exponent with sn/sd in (1/2, 2)
  return exponent < F::min_exponent || (exponent == F::min_exponent && sn < sd);
}

/// v_div_scale: `s0` is the operand to scale and equals `denominator` or `numerator`.
template <class F> constexpr Scaled<F> div_scale(typename F::Bits s0, typename F::Bits denominator,
                                                 typename F::Bits numerator, const Environment& e) {
  using Limits = DivisionLimits<F>;
  constexpr auto one = typename F::Bits(typename F::Bits(F::bias) << F::fraction_bits);
  const auto up = [&] { return scale<F>(s0, Limits::scale, e); };
  const auto is_zero = [](typename F::Bits x) { return !absolute<F>(x); };
  const auto d = flush_input<F>(denominator, e), n = flush_input<F>(numerator, e);
  if (is_zero(n) || is_zero(d)) return {F::nan, false};
  if (biased_exponent<F>(n) - biased_exponent<F>(d) >= Limits::large_quotient)
    return {s0 == denominator ? up() : s0, true};
  if (is_subnormal<F>(d)) return {up(), false};
  const bool small_reciprocal = quotient_is_subnormal<F>(one, d), small_quotient = quotient_is_subnormal<F>(n, d);
  const auto down = [&] { return scale<F>(s0, -Limits::scale, e); };
  if (small_reciprocal && small_quotient) return {s0 == denominator ? down() : s0, true};
  if (small_reciprocal) return {down(), false};
  if (small_quotient) return {s0 == numerator ? up() : s0, true};
  if (biased_exponent<F>(n) <= Limits::tiny_numerator) return {up(), false};
  return {s0, false};
}

/// v_div_fmas: fma, scaled back where VCC asks for it, rounded once: a quotient that is subnormal would else be rounded
/// to 24 bits first.
template <class F> constexpr typename F::Bits div_fmas(typename F::Bits a, typename F::Bits b, typename F::Bits c,
                                                       bool post_scale, const Environment& e) {
  const int power = biased_exponent<F>(c) > F::bias ? DivisionLimits<F>::scale : -DivisionLimits<F>::scale;
  return fma<F>(a, b, c, e, post_scale ? power : 0);
}

/// v_div_fixup: quotient, denominator, numerator.
template <class F> constexpr typename F::Bits div_fixup(typename F::Bits quotient, typename F::Bits denominator,
                                                        typename F::Bits numerator, const Environment& e) {
  using Bits = typename F::Bits;
  const Bits d = flush_input<F>(denominator, e), n = flush_input<F>(numerator, e);
  const Bits sign = Bits((d ^ n) & F::sign);
  if (is_nan<F>(n)) return quiet<F>(n);
  if (is_nan<F>(d)) return quiet<F>(d);
  const bool zero_n = !absolute<F>(n), zero_d = !absolute<F>(d);
  if ((zero_n && zero_d) || (is_infinity<F>(n) && is_infinity<F>(d))) return F::nan;
  if (zero_d || is_infinity<F>(n)) return Bits(sign | F::infinity);
  if (zero_n || is_infinity<F>(d)) return sign;
  if constexpr (F::width > 16) {
    if (biased_exponent<F>(n) - biased_exponent<F>(d) < DivisionLimits<F>::underflow)
      return round_to<F>(sign != 0, 1, F::min_exponent - F::fraction_bits - 2, e.round, e.flush_outputs);
  }
  return Bits(sign | (is_nan<F>(quotient) ? F::infinity : absolute<F>(quotient)));
}

} // namespace ASMEVO_LEVEL
} // namespace asmevo::machine::numeric
