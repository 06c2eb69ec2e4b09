// Hyperbolic tangents as the hardware computes 2^x.
//
// The magnitude of the tangent is computed in two ways, and the sign put back behind them: a polynomial in x^2 where
// |x| < 0.625, and 1 - 2 / (e^2|x| + 1) elsewhere. The second is good everywhere up to an absolute error of a rounding
// or two of 1; below 0.625 that is more and more of the result, so there is a form that keeps the polynomial and
// chooses. Neither needs branches. Infinity gives 1, and what is no number stays so.
#include "search/drivers/rewrite/diamond_functions.h"
#include "search/drivers/rewrite/rules.h"

namespace asmevo::search::rewrite {

namespace {

constexpr uint32_t threshold = 0x3f200000, one = 0x3f800000, two = 0x40000000;
constexpr uint32_t twice_log2e = 0x4038aa3b;
constexpr std::array<uint32_t, 5> near_zero = {0xbbbac73d, 0x3ca908c9, 0xbd5c1c4e, 0x3e088382, 0xbeaaaa99};

std::optional<TermId> argument(Terms& terms, TermId value) {
  if (!terms.is(value, Op::choice)) return std::nullopt;
  const auto [condition, small, large] = terms[value].of;
  if (!terms.is(condition, Op::less) || !terms.is_constant(terms[condition].of[1], threshold)) return std::nullopt;
  const TermId magnitude = terms[condition].of[0];
  if (!terms.is(magnitude, Op::magnitude)) return std::nullopt;
  const TermId x = terms[magnitude].of[0], square = terms.product(x, x);
  const TermId p = terms.product(magnitude, polynomial(terms, square, near_zero));
  if (small != terms.fused(square, p, magnitude)) return std::nullopt;
  for (const TermId e : exponentials(terms, terms.product(magnitude, terms.constant(two)))) {
    const TermId inverse = terms.of(Op::reciprocal, terms.sum(e, terms.constant(one)));
    if (large == terms.fused(inverse, terms.constant(two ^ 0x80000000), terms.constant(one))) return x;
  }
  return std::nullopt;
}

std::string by_exponential(const DiamondPlace& place, const std::string& to) {
  const std::string& t = place.free[0];
  return fmt::format("v_mul_f32_e32 {0}, {2:#x}, {1}\n"
                     "v_exp_f32_e64 {0}, |{0}|\n"
                     "v_add_f32_e32 {0}, 1.0, {0}\n"
                     "v_rcp_f32_e32 {0}, {0}\n"
                     "v_fma_f32 {3}, {0}, -2.0, 1.0\n",
                     t, place.argument, twice_log2e, to);
}

std::string by_exponential_alone(const DiamondPlace& place) { return by_exponential(place, place.result); }

std::string with_polynomial(const DiamondPlace& place) {
  const std::string &t = place.free[0], &square = place.free[1], &p = place.free[2];
  std::string text = fmt::format("v_mul_f32_e32 {0}, {1}, {1}\n"
                                 "v_mov_b32_e32 {2}, {3:#x}\n",
                                 square, place.argument, p, near_zero[0]);
  for (const uint32_t c : std::span(near_zero).subspan(1)) text += horner_step(place.processor, p, square, c);
  text += fmt::format("v_mul_f32_e64 {0}, |{1}|, {0}\n"
                      "v_fma_f32 {0}, {2}, {0}, |{1}|\n",
                      p, place.argument, square);
  text += by_exponential(place, t);
  const bool opposite = place.condition_is_opposite;
  return text + fmt::format("v_cndmask_b32_e64 {}, {}, {}, {}\n", place.result, opposite ? p : t, opposite ? t : p,
                            place.condition);
}

} // namespace

std::vector<Idea> fast_tanh(const Facts& facts) {
  return replace_diamonds(facts, {argument,
                                  {{by_exponential_alone, "hyperbolic tangent by one power of two"},
                                   {with_polynomial, "hyperbolic tangent by one power of two, a polynomial near zero"}},
                                  3});
}

} // namespace asmevo::search::rewrite
