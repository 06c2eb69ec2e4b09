// 1/√x in one instruction: the reciprocal of a root that only it reads is v_rsq_f32 of the root's argument.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

namespace asmevo::search::rewrite {

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
