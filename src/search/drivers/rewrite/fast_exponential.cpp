// e^x as the hardware computes 2^x.
//
// Compilers multiply by log2(e) in two parts, take the nearest integer off, compute 2 to the rest and scale it back,
// and choose 0 or infinity where x is out of range:
//
//     m = x * high; n = rint(m); p = ldexp(exp2(m - n + (fma(x, high, -m) + x * low)), n)
//     x > 88.7 ? inf : x < -103.3 ? 0 : p
//
// Where the comparison policy has a tolerance, exp2(x * high) is enough: out of range it is 0 or infinity by itself.
// The sequence is found from its end.
#include "search/drivers/rewrite/formula.h"
#include "search/drivers/rewrite/rules.h"

namespace asmevo::search::rewrite {

namespace {

constexpr uint32_t high = 0x3fb8aa3b, low = 0x32a5705f; // log2(e)
constexpr uint32_t largest = 0x42b17218, least = 0xc2ce8ed0, infinity = 0x7f800000;

recover::Edit replaced(size_t item, std::string text) { return {item, item + 1, std::move(text) + "\n"}; }
recover::Edit copied(size_t item, const std::string& to, const std::string& from) {
  return replaced(item, fmt::format("v_mov_b32 {}, {}", to, from));
}

/// x where `scaled` is ldexp(exp2(…), …) of x as above, and the edits that make it exp2(x * high).
std::optional<Value> in_range(Formula& formula, const Value& scaled, std::vector<recover::Edit>& edits) {
  const auto ldexp = formula.made_by(scaled, "v_ldexp_f32");
  if (!ldexp || ldexp->text.operands.size() != 3) return std::nullopt;
  const auto exp = formula.made_by({ldexp->item, ldexp->text.operands[1]}, "v_exp_f32");
  const auto integer = formula.made_by({ldexp->item, ldexp->text.operands[2]}, "v_cvt_i32_f32");
  if (!exp || exp->text.operands.size() != 2 || !integer || integer->text.operands.size() != 2) return std::nullopt;
  const Value nearest{integer->item, integer->text.operands[1]};
  const auto rounded = formula.made_by(nearest, "v_rndne_f32");
  if (!rounded || rounded->text.operands.size() != 2) return std::nullopt;
  const Value product{rounded->item, rounded->text.operands[1]};
  const auto x = formula.times(product, high);
  if (!x || !formula.same(*x, {exp->item, x->operand})) return std::nullopt;
  const auto sum = formula.made_by({exp->item, exp->text.operands[1]}, "v_add_f32");
  if (!sum || sum->text.operands.size() != 3) return std::nullopt;
  const auto is_sum = [&](size_t side) {
    const auto difference = formula.made_by({sum->item, sum->text.operands[side]}, "v_sub_f32");
    return difference && difference->text.operands.size() == 3 &&
           formula.same({difference->item, difference->text.operands[1]}, product) &&
           formula.same({difference->item, difference->text.operands[2]}, nearest) &&
           formula.is_rest({sum->item, sum->text.operands[3 - side]}, *x, high, low, product);
  };
  if (!is_sum(1) && !is_sum(2)) return std::nullopt;
  const std::string& to = exp->text.operands[0];
  edits.push_back(
      replaced(exp->item, fmt::format("v_mul_f32 {0}, {1:#x}, {2}\nv_exp_f32 {0}, {0}", to, high, x->operand)));
  edits.push_back(copied(ldexp->item, ldexp->text.operands[0], ldexp->text.operands[1]));
  return x;
}

std::vector<recover::Edit> bare(const Facts& facts, const analysis::Block& block, size_t item) {
  Formula formula(facts, block);
  const auto not_large = formula.choice_at(item);
  if (!not_large || !formula.is(not_large->otherwise, infinity)) return {};
  const auto upper = formula.compared(not_large->condition, "v_cmp_nlt_f32", largest);
  const auto not_small = formula.choice(not_large->then);
  if (!upper || !not_small || !formula.is(not_small->otherwise, 0)) return {};
  const auto lower = formula.compared(not_small->condition, "v_cmp_ngt_f32", least);
  if (!lower) return {};
  std::vector<recover::Edit> edits;
  const auto x = in_range(formula, not_small->then, edits);
  if (!x || !formula.same(*x, *upper) || !formula.same(*x, *lower) || !formula.ran_with_the_lanes_of(item)) return {};
  edits.push_back(copied(not_small->item, not_small->result, not_small->then.operand));
  edits.push_back(copied(item, not_large->result, not_large->then.operand));
  return edits;
}

} // namespace

std::vector<Idea> fast_exponential(const Facts& facts) {
  return replace_sequences(facts, "v_cndmask_b32", bare, "e^x as the hardware computes 2^x");
}

} // namespace asmevo::search::rewrite
