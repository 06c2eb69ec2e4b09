// Precise f32 division is a dozen instructions.
//
// IEEE division on CDNA is a scaled Newton iteration: two v_div_scale, a reciprocal, five fused multiply-adds,
// v_div_fmas and v_div_fixup. A kernel whose outputs are compared within a tolerance rarely needs the last half ulp or
// the denormal scaling: n·rcp(d) is within about one ulp for normal numbers, and one residual step (q += (n -
// q·d)·rcp(d)) makes that almost exact. With a refined reciprocal too, the quotient of normal numbers is what the long
// sequence gives in all but a handful of cases (Markstein 1990), and only its scaling is gone. The sequence is found
// from its end, v_div_fixup, which names the true numerator and denominator; what led to it becomes dead and is removed
// by `complete`.
#include "search/drivers/rewrite/rules.h"

namespace asmevo::search::rewrite {

namespace {

enum class Refinement { none, residual, full };
constexpr std::string_view refinement_names[] = {"", " and one residual step", ", refined, and one residual step"};

/// The text in the place of v_div_fixup `item`, or nothing where its operands or the free registers do not allow it.
std::optional<std::string> quotient_text(const Facts& facts, size_t item, Refinement refinement) {
  InstructionText fixup = parse_instruction(facts.program.items[item].text);
  if (fixup.operands.size() != 4 || !fixup.modifiers.empty()) return std::nullopt;
  const std::string &quotient = fixup.operands[0], &denominator = fixup.operands[2], &numerator = fixup.operands[3];
  std::vector<isa::RegisterRange> read;
  for (const std::string& operand : {denominator, numerator})
    if (auto range = operand_registers(operand)) read.push_back(*range);
  std::vector<uint16_t> free = free_vgprs(facts, item, read);
  if (free.size() < 3) return std::nullopt;

  std::string text = fmt::format("v_rcp_f32 v{}, {}\n", free[0], denominator);
  if (refinement == Refinement::none)
    return text + (numerator == "1.0" ? fmt::format("v_mov_b32 {}, v{}\n", quotient, free[0])
                                      : fmt::format("v_mul_f32 {}, {}, v{}\n", quotient, numerator, free[0]));
  if (refinement == Refinement::full)
    text += fmt::format("v_fma_f32 v{1}, {2}, v{0}, 1.0\nv_fma_f32 v{0}, v{1}, v{0}, v{0}\n", free[0], free[1],
                        negated(denominator));
  return text + fmt::format("v_mul_f32 v{1}, {4}, v{0}\n"
                            "v_fma_f32 v{2}, {5}, v{1}, {4}\n"
                            "v_fma_f32 {3}, v{2}, v{0}, v{1}\n",
                            free[0], free[1], free[2], quotient, numerator, negated(denominator));
}

std::vector<size_t> divisions_of(const Facts& facts, const analysis::Block& block) {
  std::vector<size_t> items;
  for (size_t item = block.first; item < block.last; ++item)
    if (facts.is_instruction(item) && isa::name_of(facts.instruction(item)) == "v_div_fixup_f32") items.push_back(item);
  return items;
}

Idea replace(const Facts& facts, std::span<const size_t> items, Refinement refinement) {
  Idea idea;
  for (size_t item : items)
    if (auto text = quotient_text(facts, item, refinement)) idea.edits.push_back({item, item + 1, *text});
  idea.rationale = fmt::format("{} of {} precise f32 division{} by reciprocal{}", idea.edits.size(), items.size(),
                               items.size() == 1 ? "" : "s", refinement_names[size_t(refinement)]);
  return idea;
}

} // namespace

std::vector<Idea> fast_division(const Facts& facts) {
  std::vector<size_t> all;
  std::vector<Idea> ideas;
  auto propose = [&](std::span<const size_t> items, double promise) {
    for (Refinement refinement : {Refinement::none, Refinement::residual, Refinement::full}) {
      ideas.push_back(replace(facts, items, refinement));
      ideas.back().promise = promise;
    }
  };
  size_t blocks_with_divisions = 0;
  for (const analysis::Block& block : facts.graph.blocks) {
    std::vector<size_t> items = divisions_of(facts, block);
    if (items.empty()) continue;
    ++blocks_with_divisions;
    all.insert(all.end(), items.begin(), items.end());
    propose(items, facts.heat_of(block.first, block.last));
  }
  if (blocks_with_divisions > 1) propose(all, facts.heat_of(facts.function.first, facts.function.last));
  return ideas;
}

} // namespace asmevo::search::rewrite
