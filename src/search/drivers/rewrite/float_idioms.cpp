// Idioms around hardware functions that a tolerance makes unnecessary.
//
// v_exp_f32, v_sqrt_f32 and v_rsq_f32 are good to about one ulp but flush denormals, so compilers wrap them: 2^x is
// moved into range and scaled back where the result would be denormal; a square root is scaled, refined by one ulp each
// way and its special values patched. Where the comparison policy has a tolerance and the results are not denormal, the
// bare instruction is enough.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

namespace asmevo::search::rewrite {

namespace {

struct Line {
  size_t item;
  InstructionText text;
};

std::optional<Line> definition_line(const Facts& facts, const analysis::Block& block, size_t item,
                                    std::string_view operand, std::string_view mnemonic) {
  auto at = defined_by(facts, block, item, operand, mnemonic);
  if (!at) return std::nullopt;
  return Line{*at, parse_instruction(facts.program.items[*at].text)};
}

/// The condition operand of a v_cndmask, which its short form leaves implicit.
std::string condition_of(const InstructionText& select) {
  return select.operands.size() == 4 ? select.operands[3] : "vcc";
}

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

/// The end of a precise square root: select(root, x', class(x', 0 | inf)), with x' = select(x, x·2^32, small).
std::optional<std::pair<recover::Edit, recover::Edit>> bare_root(const Facts& facts, const analysis::Block& block,
                                                                 size_t item) {
  InstructionText last = parse_instruction(facts.program.items[item].text);
  if (last.operands.size() < 3) return std::nullopt;
  const std::string& x = last.operands[2];
  if (!defined_by(facts, block, item, condition_of(last), "v_cmp_class_f32")) return std::nullopt;
  auto scaled = definition_line(facts, block, item, x, "v_cndmask_b32");
  if (!scaled || scaled->text.operands.size() < 3) return std::nullopt;
  auto product = definition_line(facts, block, scaled->item, scaled->text.operands[2], "v_mul_f32");
  if (!product || product->text.operands.size() != 3) return std::nullopt;
  bool by_two_to_32 = product->text.operands[1] == "0x4f800000" || product->text.operands[2] == "0x4f800000";
  if (!by_two_to_32) return std::nullopt;
  return std::pair{recover::Edit{scaled->item, scaled->item + 1,
                                 fmt::format("v_mov_b32 {}, {}\n", scaled->text.operands[0], scaled->text.operands[1])},
                   recover::Edit{item, item + 1, fmt::format("v_sqrt_f32 {}, {}\n", last.operands[0], x)}};
}

using Match = std::optional<std::pair<recover::Edit, recover::Edit>> (*)(const Facts&, const analysis::Block&, size_t);

std::vector<Idea> replace_all(const Facts& facts, std::string_view mnemonic, Match match, std::string_view what) {
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks) {
    Idea idea;
    size_t done = block.first; // edits of one idea must not overlap: a match may reach back behind an earlier one
    for (size_t item = block.first; item < block.last; ++item) {
      if (!facts.is_instruction(item) || isa::name_of(facts.instruction(item)) != mnemonic) continue;
      auto edits = match(facts, block, item);
      if (!edits) continue;
      if (edits->first.first < done) { // interleaved with the one before: its own idea
        ideas.push_back({{edits->first, edits->second}, {}, std::string(what), facts.heat_of(block.first, block.last)});
        continue;
      }
      idea.edits.push_back(edits->first);
      idea.edits.push_back(edits->second);
      done = item + 1;
    }
    if (idea.edits.empty()) continue;
    idea.rationale = fmt::format("{} × {}", idea.edits.size() / 2, what);
    idea.promise = facts.heat_of(block.first, block.last);
    ideas.push_back(std::move(idea));
  }
  return ideas;
}

} // namespace

std::vector<Idea> unguarded_exp(const Facts& facts) {
  return replace_all(facts, "v_ldexp_f32", unguard, "2^x without its denormal guard");
}

std::vector<Idea> fast_square_root(const Facts& facts) {
  return replace_all(facts, "v_cndmask_b32", bare_root, "square root by v_sqrt_f32 alone");
}

std::vector<Idea> reciprocal_square_root(const Facts& facts) {
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks)
    for (size_t item = block.first; item < block.last; ++item) {
      if (!facts.is_instruction(item) || isa::name_of(facts.instruction(item)) != "v_rcp_f32") continue;
      InstructionText rcp = parse_instruction(facts.program.items[item].text);
      if (rcp.operands.size() != 2 || !rcp.modifiers.empty()) continue;
      auto root = definition_line(facts, block, item, rcp.operands[1], "v_sqrt_f32");
      if (!root || root->text.operands.size() != 2 || rcp.operands[1] != root->text.operands[0]) continue;
      auto x = operand_registers(root->text.operands[1]);
      if (!x || written_between(facts, *x, root->item, item)) continue;
      ideas.push_back({{{item, item + 1, fmt::format("v_rsq_f32 {}, {}\n", rcp.operands[0], root->text.operands[1])}},
                       {},
                       "1/√x by v_rsq_f32",
                       facts.heat_of(block.first, block.last)});
    }
  return ideas;
}

} // namespace asmevo::search::rewrite
