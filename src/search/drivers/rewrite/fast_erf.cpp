// The error function as the hardware computes 2^x.
//
// Compilers compute its magnitude in two ways, and put the sign back behind them: a polynomial in x^2 where |x| < 1,
// and 1 - e^-p(|x|) with a polynomial p elsewhere. Polynomials can be had for which the second is good everywhere, up
// to an absolute error: with q(x) of degree 5 below, 1 - 2^-q(|x|) is off by at most 7e-7. So there is that form, and
// one that computes both ways as they were, with the exponential of the hardware, and chooses. Neither needs branches.
// Infinity gives 1, and what is no number stays so.
#include "search/drivers/rewrite/diamond_functions.h"
#include "search/drivers/rewrite/rules.h"

namespace asmevo::search::rewrite {

namespace {

constexpr uint32_t one = 0x3f800000, log2e = 0x3fb8aa3b, magnitude_bits = 0x7fffffff;
constexpr std::array<uint32_t, 6> near_zero = {0xba1345e1, 0x3ba10414, 0xbcdac9b8, 0x3de703be, 0xbec09330, 0x3e0375d0};
constexpr std::array<uint32_t, 7> far = {0x378e98ab, 0xb9c68948, 0x3b7cd369, 0xbcc618b2,
                                         0x3dda74e4, 0x3f228afd, 0x3e03c728};
/// The minimax fit of -log2(erfc(x)) / x with weight x * erfc(x) over [0, 3.95], where erf becomes 1.
constexpr std::array<uint32_t, 5> everywhere = {0x3b40f1da, 0xbcf2666f, 0x3e183bc0, 0x3f6b236f, 0x3fd05eab};

std::optional<TermId> argument(Terms& terms, TermId value) {
  if (!terms.is(value, Op::choice)) return std::nullopt;
  const auto [condition, small, large] = terms[value].of;
  if (!terms.is(condition, Op::less) || !terms.is_constant(terms[condition].of[1], one)) return std::nullopt;
  const TermId magnitude = terms[condition].of[0];
  if (!terms.is(magnitude, Op::magnitude)) return std::nullopt;
  const TermId x = terms[magnitude].of[0], square = terms.product(x, x);
  if (small != terms.fused(magnitude, polynomial(terms, square, near_zero), magnitude)) return std::nullopt;
  const TermId p = terms.fused(magnitude, polynomial(terms, magnitude, far), magnitude);
  for (const TermId e : exponentials(terms, terms.negative(p)))
    if (large == terms.difference(terms.constant(one), e)) return x;
  return std::nullopt;
}

std::string power(const DiamondPlace& place, std::span<const uint32_t> coefficients) {
  const std::string &x = place.free[0], &p = place.free[1];
  std::string text = fmt::format("v_and_b32_e32 {}, {:#x}, {}\nv_mov_b32_e32 {}, {:#x}\n", x, magnitude_bits,
                                 place.argument, p, coefficients[0]);
  for (const uint32_t c : coefficients.subspan(1)) text += horner_step(place.processor, p, x, c);
  return text;
}

std::string by_exponential_alone(const DiamondPlace& place) {
  const std::string &x = place.free[0], &p = place.free[1];
  return power(place, everywhere) + fmt::format("v_mul_f32_e32 {0}, {1}, {0}\n"
                                                "v_exp_f32_e64 {0}, -{0}\n"
                                                "v_sub_f32_e32 {2}, 1.0, {0}\n",
                                                p, x, place.result);
}

std::string with_polynomial(const DiamondPlace& place) {
  const std::string &x = place.free[0], &p = place.free[1], &square = place.free[2], &s = place.free[3];
  std::string text = power(place, far) + fmt::format("v_fma_f32 {0}, {1}, {0}, {1}\n"
                                                     "v_mul_f32_e32 {0}, {4:#x}, {0}\n"
                                                     "v_exp_f32_e64 {0}, -{0}\n"
                                                     "v_sub_f32_e32 {0}, 1.0, {0}\n"
                                                     "v_mul_f32_e32 {2}, {1}, {1}\n"
                                                     "v_mov_b32_e32 {3}, {5:#x}\n",
                                                     p, x, square, s, log2e, near_zero[0]);
  for (const uint32_t c : std::span(near_zero).subspan(1)) text += horner_step(place.processor, s, square, c);
  const bool opposite = place.condition_is_opposite;
  return text + fmt::format("v_fma_f32 {0}, {1}, {0}, {1}\n"
                            "v_cndmask_b32_e64 {2}, {3}, {4}, {5}\n",
                            s, x, place.result, opposite ? s : p, opposite ? p : s, place.condition);
}

} // namespace

std::vector<Idea> fast_erf(const Facts& facts) {
  return replace_diamonds(facts, {argument,
                                  {{by_exponential_alone, "error function by one power of two"},
                                   {with_polynomial, "error function by one power of two, a polynomial near zero"}},
                                  4});
}

} // namespace asmevo::search::rewrite
