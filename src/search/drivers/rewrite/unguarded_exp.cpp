// The denormal guard around 2^x.
//
// v_exp_f32 flushes denormal results, so compilers move the argument into range where the result would be denormal and
// scale the result back: ldexp(exp2(x + (small ? 64 : 0)), small ? -64 : 0). Where the comparison policy has a
// tolerance and the results that matter are not denormal, the bare instruction is enough. The guard is found from its
// end, the v_ldexp_f32 whose scale and whose argument's shift are selected by the same condition.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

namespace asmevo::search::rewrite {

namespace {

/// The edit that takes the range guard out of the argument of v_exp_f32: x·c + select(0, 64) becomes x·c.
std::optional<recover::Edit> without_guard(const Facts& facts, const analysis::Block& block, size_t exp_item,
                                           const std::string& argument, const std::string& condition) {
  auto guarded = [&](size_t item, const std::string& operand) {
    auto select = definition_line(facts, block, item, operand, "v_cndmask_b32");
    return select && condition_of(select->text) == condition;
  };
  auto edit = [](size_t item, std::string text) { return recover::Edit{item, item + 1, std::move(text)}; };
  if (auto fmac = definition_line(facts, block, exp_item, argument, "v_fmac_f32");
      fmac && fmac->text.operands.size() == 3 && guarded(fmac->item, fmac->text.operands[0]))
    return edit(fmac->item, fmt::format("v_mul_f32 {}, {}, {}\n", fmac->text.operands[0], fmac->text.operands[1],
                                        fmac->text.operands[2]));
  if (auto fma = definition_line(facts, block, exp_item, argument, "v_fma_f32");
      fma && fma->text.operands.size() == 4 && guarded(fma->item, fma->text.operands[3]))
    return edit(fma->item, fmt::format("v_mul_f32 {}, {}, {}\n", fma->text.operands[0], fma->text.operands[1],
                                       fma->text.operands[2]));
  if (auto add = definition_line(facts, block, exp_item, argument, "v_add_f32"); add && add->text.operands.size() == 3)
    for (int side : {1, 2})
      if (guarded(add->item, add->text.operands[side]))
        return edit(add->item, fmt::format("v_mov_b32 {}, {}\n", add->text.operands[0], add->text.operands[3 - side]));
  return std::nullopt;
}

/// v_ldexp(v_exp(x·c + select(0, 64, cc)), select(0, -64, cc)).
std::optional<std::pair<recover::Edit, recover::Edit>> unguard(const Facts& facts, const analysis::Block& block,
                                                               size_t item) {
  InstructionText ldexp = parse_instruction(facts.program.items[item].text);
  if (ldexp.operands.size() != 3) return std::nullopt;
  auto scale = definition_line(facts, block, item, ldexp.operands[2], "v_cndmask_b32");
  auto exp = definition_line(facts, block, item, ldexp.operands[1], "v_exp_f32");
  if (!scale || !exp || exp->text.operands.size() != 2) return std::nullopt;
  auto argument = without_guard(facts, block, exp->item, exp->text.operands[1], condition_of(scale->text));
  if (!argument) return std::nullopt;
  return std::pair{*argument, recover::Edit{item, item + 1,
                                            fmt::format("v_mov_b32 {}, {}\n", ldexp.operands[0], ldexp.operands[1])}};
}

} // namespace

std::vector<Idea> unguarded_exp(const Facts& facts) {
  return replace_pairs(facts, "v_ldexp_f32", unguard, "2^x without its denormal guard");
}

} // namespace asmevo::search::rewrite
