// Float instructions by MPFR: the model that every float instruction of the vector ALU is tested against.
//
// It shares no arithmetic with the machine. A code is turned into an exact number (or infinity, or NaN, or a signed
// zero), MPFR computes on those with room for every exact result, and the result is rounded once, by numeric_model.h.
// What MPFR does not know are AMD's rules for NaNs and for denormals, which are spelt out here from the manuals.
#pragma once

#include "numeric_model.h"
#include "valu_fixture.h"

namespace asmevo::machine::model {

using numeric::Binary16;
using numeric::Binary32;
using numeric::Binary64;

/// Every MODE that float arithmetic looks at, of one format: four roundings, four denormal settings, with IEEE and
/// without. The other format's fields hold the opposite, so that a mix-up shows.
template <class F> std::vector<uint32_t> every_mode() {
  std::vector<uint32_t> modes;
  for (uint32_t ieee : {0u, mode::ieee})
    for (uint32_t round = 0; round < 4; ++round)
      for (uint32_t denorm = 0; denorm < 4; ++denorm) {
        const uint32_t other_round = 3 - round, other_denorm = 3 - denorm;
        modes.push_back(F::width == 32
                            ? ieee | round | other_round << 2 | denorm << 4 | other_denorm << 6 | mode::dx10_clamp
                            : ieee | other_round | round << 2 | other_denorm << 4 | denorm << 6 | mode::dx10_clamp);
      }
  return modes;
}
/// The fields of MODE for format F: bits 1:0 and 5:4 for f32, 3:2 and 7:6 for f16 and f64. Of a denormal field, bit 0
/// keeps denormal sources and bit 1 keeps denormal results.
template <class F> Environment environment_of(uint32_t bits) {
  const uint32_t shift = F::width == 32 ? 0 : 2, denorm = bits >> (4 + shift) & 3;
  return {Round(bits >> shift & 3), (denorm & 1) == 0, (denorm & 2) == 0, (bits & mode::ieee) != 0};
}

template <class F> bool nan_code(typename F::Bits x) { return typename F::Bits(x & ~F::sign) > F::infinity; }
template <class F> bool signalling_code(typename F::Bits x) { return nan_code<F>(x) && !(x & F::quiet_bit); }
template <class F> bool denormal_code(typename F::Bits x) {
  return typename F::Bits(x & ~F::sign) <= F::fraction_mask && (x & F::fraction_mask);
}
template <class F> typename F::Bits quieted(typename F::Bits x) { return typename F::Bits(x | F::quiet_bit); }
/// A source as the instruction sees it.
template <class F> typename F::Bits source_code(typename F::Bits x, const Environment& e) {
  return e.flush_inputs && denormal_code<F>(x) ? typename F::Bits(x & F::sign) : x;
}

/// The number of any code, infinities and NaNs included.
template <class F> Real number(typename F::Bits x) {
  Real r;
  if (nan_code<F>(x)) {
    mpfr_set_nan(r.get());
  } else if (typename F::Bits(x & ~F::sign) == F::infinity) {
    mpfr_set_inf(r.get(), x & F::sign ? -1 : 1);
  } else if (!(x & ~F::sign)) {
    mpfr_set_zero(r.get(), x & F::sign ? -1 : 1);
  } else {
    return real<F>(x);
  }
  return r;
}
/// `exact` rounded to F; F::nan for a NaN.
template <class F> typename F::Bits code(const Real& exact, const Environment& e) {
  const bool negative = mpfr_signbit(exact.get()) != 0;
  if (mpfr_nan_p(exact.get())) return F::nan;
  if (mpfr_inf_p(exact.get())) return typename F::Bits((negative ? F::sign : 0) | F::infinity);
  return rounded<F>(exact, e.round, e.flush_outputs, negative);
}

/// A NaN among the sources is the result, the first one, quieted in IEEE mode.
template <class F, class... Codes> std::optional<typename F::Bits> nan_of(const Environment& e, Codes... codes) {
  for (const typename F::Bits x : {codes...})
    if (nan_code<F>(x)) return e.ieee ? quieted<F>(x) : x;
  return std::nullopt;
}

/// op(result, x..., direction) of MPFR on sources as seen, rounded once. MPFR's direction decides the sign of an exact
/// zero sum.
template <class F, class Operation, class... Codes>
typename F::Bits once(Operation op, const Environment& e, Codes... codes) {
  if (const auto nan = nan_of<F>(e, codes...)) return *nan;
  Real exact;
  op(exact.get(), number<F>(source_code<F>(codes, e)).get()..., direction(e.round));
  return code<F>(exact, e);
}

/// Minimum or maximum: -0 is below +0; a NaN loses against a number, but a signalling one wins in IEEE mode, quieted.
template <class F> typename F::Bits extreme(bool most, typename F::Bits a, typename F::Bits b, const Environment& e) {
  a = source_code<F>(a, e), b = source_code<F>(b, e);
  for (const auto x : {a, b})
    if (e.ieee && signalling_code<F>(x)) return quieted<F>(x);
  if (nan_code<F>(a)) return b;
  if (nan_code<F>(b)) return a;
  const Real x = number<F>(a), y = number<F>(b);
  if (mpfr_zero_p(x.get()) && mpfr_zero_p(y.get())) {
    const bool negative = most ? (a & b & F::sign) != 0 : ((a | b) & F::sign) != 0;
    return negative ? F::sign : typename F::Bits{0};
  }
  return (mpfr_cmp(x.get(), y.get()) < 0) != most ? a : b;
}
template <class F>
typename F::Bits extreme3(bool most, typename F::Bits a, typename F::Bits b, typename F::Bits c, const Environment& e) {
  return extreme<F>(most, extreme<F>(most, a, b, e), c, e);
}
/// The middle one of three; the minimum where one is a NaN. Equal zeros: the manual takes the maximum of what remains
/// when one that equals the maximum is taken out.
template <class F>
typename F::Bits middle(typename F::Bits a, typename F::Bits b, typename F::Bits c, const Environment& e) {
  if (nan_code<F>(a) || nan_code<F>(b) || nan_code<F>(c)) return extreme3<F>(false, a, b, c, e);
  const auto top = number<F>(extreme3<F>(true, a, b, c, e));
  const auto is_top = [&](auto x) { return mpfr_equal_p(number<F>(source_code<F>(x, e)).get(), top.get()) != 0; };
  if (is_top(a)) return extreme<F>(true, b, c, e);
  if (is_top(b)) return extreme<F>(true, a, c, e);
  return extreme<F>(true, a, b, e);
}
/// IEEE 754-2019 minimum or maximum of three: a NaN wins.
template <class F> typename F::Bits nan_wins3(bool most, typename F::Bits a, typename F::Bits b, typename F::Bits c,
                                              const Environment& e) {
  if (const auto nan = nan_of<F>(e, a, b, c)) return *nan;
  return extreme3<F>(most, a, b, c, e);
}

/// Instructions of one format: operands in, expected code out.
template <class F> using FloatModel =
    std::function<typename F::Bits(typename F::Bits, typename F::Bits, typename F::Bits, const Environment&)>;

template <class F> typename F::Bits bits_in(Lanes& lanes, unsigned k, unsigned i) {
  return typename F::Bits(uint64_t{lanes.source(k, 1).lane[i]} << 32 | lanes.source(k, 0).lane[i]);
}

} // namespace asmevo::machine::model
