// Exact arithmetic in any format, rounding mode and denormal mode: add, multiply, fused multiply-add, minimum and
// maximum, comparison, rounding to integral values.
//
// These are the definitions. The lane loops use native vector arithmetic where it gives the same bits (round to nearest
// even, no NaN in sight) and come here for the rest.
//
// NaN rules. An operation with a NaN source returns the first NaN in operand order, payload kept, quieted where
// MODE.ieee is set (with it clear no instruction quiets: LLVM issue 139622). An invalid operation returns Format::nan.
// Which of several NaNs wins is unpublished; operand order is what the manuals' pseudocode of other instructions does.
#pragma once

#include "machine/numeric/format.h"

namespace asmevo::machine::numeric {
inline namespace ASMEVO_LEVEL {

template <class F> constexpr typename F::Bits flush_input(typename F::Bits x, const Environment& e) {
  return e.flush_inputs ? flush<F>(x) : x;
}
template <class F> constexpr typename F::Bits propagate(typename F::Bits nan, const Environment& e) {
  return e.ieee ? quiet<F>(nan) : nan;
}
template <class F> constexpr typename F::Bits negate(typename F::Bits x) { return typename F::Bits(x ^ F::sign); }
template <class F> constexpr typename F::Bits absolute(typename F::Bits x) {
  return typename F::Bits(x & typename F::Bits(~F::sign));
}

/// A signed significand, 2^exponent apart. `significand` keeps 124 bits at most so that a sum fits.
struct Term {
  bool negative = false;
  u128 significand = 0;
  int exponent = 0;
};

/// Shifts right, or-ing what falls off into the lowest bit.
constexpr u128 shift_right_sticky(u128 x, int shift) {
  if (shift <= 0) return x;
  if (shift >= 128) return x ? 1 : 0;
  return (x >> shift) | ((x & ((u128{1} << shift) - 1)) ? 1 : 0);
}

/// The exact sum, or one whose lowest bit is sticky far below any format's precision. A zero sum has significand 0.
constexpr Term sum(Term a, Term b) {
  if (!a.significand) return b;
  if (!b.significand) return a;
  // Both are moved up to bit 123, so that the lower one loses only bits that cannot matter.
  const int up_a = 124 - bit_width(a.significand), up_b = 124 - bit_width(b.significand);
  a.significand <<= up_a, a.exponent -= up_a;
  b.significand <<= up_b, b.exponent -= up_b;
  if (a.exponent < b.exponent) {
    const Term t = a;
    a = b, b = t;
  }
  b.significand = shift_right_sticky(b.significand, a.exponent - b.exponent);
  if (a.negative == b.negative) return {a.negative, a.significand + b.significand, a.exponent};
  if (a.significand >= b.significand) return {a.negative, a.significand - b.significand, a.exponent};
  return {b.negative, b.significand - a.significand, a.exponent};
}

/// (a * b + c) * 2^power with one rounding.
template <class F> constexpr typename F::Bits fma(typename F::Bits a, typename F::Bits b, typename F::Bits c,
                                                  const Environment& e, int power = 0) {
  a = flush_input<F>(a, e), b = flush_input<F>(b, e), c = flush_input<F>(c, e);
  if (is_nan<F>(a)) return propagate<F>(a, e);
  if (is_nan<F>(b)) return propagate<F>(b, e);
  if (is_nan<F>(c)) return propagate<F>(c, e);
  const Number x = unpack<F>(a), y = unpack<F>(b), z = unpack<F>(c);
  const bool negative = x.negative != y.negative;
  if (x.kind == Kind::infinity || y.kind == Kind::infinity) {
    if (x.kind == Kind::zero || y.kind == Kind::zero) return F::nan;
    if (z.kind == Kind::infinity && z.negative != negative) return F::nan;
    return typename F::Bits((negative ? F::sign : 0) | F::infinity);
  }
  if (z.kind == Kind::infinity) return c;
  const Term product{negative, u128{x.significand} * y.significand, x.exponent + y.exponent};
  const Term addend{z.negative, z.significand, z.exponent};
  const Term total = sum(product, addend);
  if (!total.significand) {
    // Exact zero: the sign both agree on, else minus only when rounding down.
    const bool minus = negative == z.negative ? negative : e.round == Round::down;
    return zero<F>(minus);
  }
  return round_to<F>(total.negative, total.significand, total.exponent + power, e.round, e.flush_outputs);
}

template <class F> constexpr typename F::Bits add(typename F::Bits a, typename F::Bits b, const Environment& e) {
  a = flush_input<F>(a, e), b = flush_input<F>(b, e);
  if (is_nan<F>(a)) return propagate<F>(a, e);
  if (is_nan<F>(b)) return propagate<F>(b, e);
  const Number x = unpack<F>(a), y = unpack<F>(b);
  if (x.kind == Kind::infinity) return y.kind == Kind::infinity && x.negative != y.negative ? F::nan : a;
  if (y.kind == Kind::infinity) return b;
  const Term total = sum({x.negative, x.significand, x.exponent}, {y.negative, y.significand, y.exponent});
  if (!total.significand) return zero<F>(x.negative == y.negative ? x.negative : e.round == Round::down);
  return round_to<F>(total.negative, total.significand, total.exponent, e.round, e.flush_outputs);
}

/// a - b. A NaN keeps its sign.
template <class F> constexpr typename F::Bits subtract(typename F::Bits a, typename F::Bits b, const Environment& e) {
  return add<F>(a, is_nan<F>(b) ? b : negate<F>(b), e);
}

template <class F> constexpr typename F::Bits multiply(typename F::Bits a, typename F::Bits b, const Environment& e) {
  a = flush_input<F>(a, e), b = flush_input<F>(b, e);
  if (is_nan<F>(a)) return propagate<F>(a, e);
  if (is_nan<F>(b)) return propagate<F>(b, e);
  const Number x = unpack<F>(a), y = unpack<F>(b);
  const bool negative = x.negative != y.negative;
  if (x.kind == Kind::infinity || y.kind == Kind::infinity) {
    if (x.kind == Kind::zero || y.kind == Kind::zero) return F::nan;
    return typename F::Bits((negative ? F::sign : 0) | F::infinity);
  }
  return round_to<F>(negative, u128{x.significand} * y.significand, x.exponent + y.exponent, e.round, e.flush_outputs);
}

/// a * b with the DX9 rule: a zero makes +0, whatever the other is.
template <class F>
constexpr typename F::Bits multiply_legacy(typename F::Bits a, typename F::Bits b, const Environment& e) {
  a = flush_input<F>(a, e), b = flush_input<F>(b, e);
  if (!absolute<F>(a) || !absolute<F>(b)) return 0;
  return multiply<F>(a, b, e);
}

/// a * b + c with the product rounded first, as the mad and mac instructions of gfx908 do.
template <class F> constexpr typename F::Bits multiply_add(typename F::Bits a, typename F::Bits b, typename F::Bits c,
                                                           const Environment& e) {
  const auto product = multiply<F>(a, b, e);
  if (is_nan<F>(c) && !is_nan<F>(a) && !is_nan<F>(b)) return propagate<F>(flush_input<F>(c, e), e);
  return add<F>(product, c, e);
}

/// Order of two numbers that are not NaN, with -0 below +0.
template <class F> constexpr auto ordinal(typename F::Bits x) {
  using Signed = std::make_signed_t<typename F::Bits>;
  return x & F::sign ? Signed(typename F::Bits(~x) ^ F::sign) : Signed(x);
}

enum class Order : uint8_t { less, equal, greater, unordered };

template <class F> constexpr Order compare(typename F::Bits a, typename F::Bits b, const Environment& e) {
  a = flush_input<F>(a, e), b = flush_input<F>(b, e);
  if (is_nan<F>(a) || is_nan<F>(b)) return Order::unordered;
  if (!absolute<F>(a) && !absolute<F>(b)) return Order::equal;
  const auto x = ordinal<F>(a), y = ordinal<F>(b);
  return x < y ? Order::less : x > y ? Order::greater : Order::equal;
}

template <class F, bool Maximum>
constexpr typename F::Bits select_extreme(typename F::Bits a, typename F::Bits b, const Environment& e) {
  a = flush_input<F>(a, e), b = flush_input<F>(b, e);
  if (e.ieee && is_signalling<F>(a)) return quiet<F>(a);
  if (e.ieee && is_signalling<F>(b)) return quiet<F>(b);
  if (is_nan<F>(a)) return b;
  if (is_nan<F>(b)) return a;
  const bool a_wins = Maximum ? ordinal<F>(a) >= ordinal<F>(b) : ordinal<F>(a) < ordinal<F>(b);
  return a_wins ? a : b;
}
/// v_min/v_max: a NaN loses against a number, except a signalling one in IEEE mode, which is quieted and returned.
template <class F> constexpr typename F::Bits minimum(typename F::Bits a, typename F::Bits b, const Environment& e) {
  return select_extreme<F, false>(a, b, e);
}
template <class F> constexpr typename F::Bits maximum(typename F::Bits a, typename F::Bits b, const Environment& e) {
  return select_extreme<F, true>(a, b, e);
}
template <class F>
constexpr typename F::Bits minimum3(typename F::Bits a, typename F::Bits b, typename F::Bits c, const Environment& e) {
  return minimum<F>(minimum<F>(a, b, e), c, e);
}
template <class F>
constexpr typename F::Bits maximum3(typename F::Bits a, typename F::Bits b, typename F::Bits c, const Environment& e) {
  return maximum<F>(maximum<F>(a, b, e), c, e);
}
template <class F>
constexpr typename F::Bits median3(typename F::Bits a, typename F::Bits b, typename F::Bits c, const Environment& e) {
  if (is_nan<F>(a) || is_nan<F>(b) || is_nan<F>(c)) return minimum3<F>(a, b, c, e);
  const auto highest = maximum3<F>(a, b, c, e);
  if (compare<F>(highest, a, e) == Order::equal) return maximum<F>(b, c, e);
  if (compare<F>(highest, b, e) == Order::equal) return maximum<F>(a, c, e);
  return maximum<F>(a, b, e);
}
/// IEEE 754-2019 minimum/maximum, which gfx950's v_minimum3/v_maximum3 are made of: a NaN wins.
template <class F, bool Maximum>
constexpr typename F::Bits extreme_or_nan(typename F::Bits a, typename F::Bits b, const Environment& e) {
  if (is_nan<F>(a)) return propagate<F>(a, e);
  if (is_nan<F>(b)) return propagate<F>(b, e);
  return select_extreme<F, Maximum>(a, b, e);
}

/// Result modifiers of the VOP3 encoding, in the order the hardware applies them.
template <class F> constexpr typename F::Bits scale_output(typename F::Bits x, unsigned omod, const Environment& e) {
  // 1: times 2, 2: times 4, 3: divided by 2. Subnormals are flushed: the modifier only works in that mode.
  if (!omod || is_nan<F>(x) || is_infinity<F>(x) || !absolute<F>(x)) return x;
  const Number n = unpack<F>(x);
  const int shift = omod == 1 ? 1 : omod == 2 ? 2 : -1;
  return round_to<F>(n.negative, n.significand, n.exponent + shift, e.round, true);
}
/// Clamp to [0, 1]. With DX10_CLAMP a NaN becomes zero.
template <class F> constexpr typename F::Bits clamp_unit(typename F::Bits x, bool dx10_clamp) {
  constexpr auto one = typename F::Bits(typename F::Bits(F::bias) << F::fraction_bits);
  if (is_nan<F>(x)) return dx10_clamp ? 0 : x;
  if (x & F::sign) return 0;
  return x > one ? one : x;
}

/// To an integral value in the given direction; the sign survives, NaNs propagate.
template <class F> constexpr typename F::Bits round_integral(typename F::Bits x, Round round, const Environment& e) {
  x = flush_input<F>(x, e);
  if (is_nan<F>(x)) return propagate<F>(x, e);
  const Number n = unpack<F>(x);
  if (n.kind != Kind::finite || n.exponent >= 0) return x;
  const u128 whole = round_shift(n.significand, -n.exponent, n.negative, round);
  return round_to<F>(n.negative, whole, 0, Round::zero);
}

/// x - floor(x), below 1: the hardware returns the largest number below 1 where rounding would give 1.
template <class F> constexpr typename F::Bits fraction(typename F::Bits x, const Environment& e) {
  constexpr auto one = typename F::Bits(typename F::Bits(F::bias) << F::fraction_bits);
  x = flush_input<F>(x, e);
  if (is_nan<F>(x)) return propagate<F>(x, e);
  if (is_infinity<F>(x)) return F::nan;
  const auto r = subtract<F>(x, round_integral<F>(x, Round::down, e), e);
  return r >= one && !(r & F::sign) ? typename F::Bits(one - 1) : typename F::Bits(r);
}

/// x * 2^power.
template <class F> constexpr typename F::Bits scale(typename F::Bits x, int power, const Environment& e) {
  x = flush_input<F>(x, e);
  if (is_nan<F>(x)) return propagate<F>(x, e);
  const Number n = unpack<F>(x);
  if (n.kind != Kind::finite) return x;
  const int bounded = power > 8192 ? 8192 : power < -8192 ? -8192 : power;
  return round_to<F>(n.negative, n.significand, n.exponent + bounded, e.round, e.flush_outputs);
}

/// frexp: mantissa in [0.5, 1) and exponent; infinities and NaNs give themselves and 0.
template <class F> constexpr typename F::Bits mantissa(typename F::Bits x, const Environment& e) {
  x = flush_input<F>(x, e);
  if (is_nan<F>(x)) return propagate<F>(x, e);
  const Number n = unpack<F>(x);
  if (n.kind != Kind::finite) return x;
  return round_to<F>(n.negative, n.significand, -bit_width(n.significand), Round::zero);
}
template <class F> constexpr int exponent(typename F::Bits x, const Environment& e) {
  const Number n = unpack<F>(flush_input<F>(x, e));
  return n.kind == Kind::finite ? n.exponent + bit_width(n.significand) : 0;
}

/// v_cmp_class: one bit a class, in the order of the mask operand.
template <class F> constexpr uint32_t class_bit(typename F::Bits x) {
  const bool negative = (x & F::sign) != 0;
  if (is_nan<F>(x)) return is_signalling<F>(x) ? 1u << 0 : 1u << 1;
  if (is_infinity<F>(x)) return negative ? 1u << 2 : 1u << 9;
  if (!absolute<F>(x)) return negative ? 1u << 5 : 1u << 6;
  if (is_subnormal<F>(x)) return negative ? 1u << 4 : 1u << 7;
  return negative ? 1u << 3 : 1u << 8;
}

} // namespace ASMEVO_LEVEL
} // namespace asmevo::machine::numeric
