// Numbers that are made canonical twice.
//
// `v_max_f32 v1, v1, v1` quiets a signalling NaN and flushes a denormal where the mode says so; compilers put it before
// every maximum and minimum whose operand might be either. What an arithmetic instruction has just computed is neither,
// and stays so on its way through other lanes (a lane that is off supplies 0) or other registers: then it is a copy. As
// long as nothing changes the mode.
#include "analysis/reaching.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

using analysis::Reaching;
constexpr int longest_way = 4; // instructions that hand a number on

bool changes_mode(const Facts& facts) {
  for (size_t item = facts.function.first; item < facts.function.last; ++item)
    if (facts.is_instruction(item) &&
        (writes(facts.instruction(item), {isa::File::mode, 0, 1}) || analysis::is_call(facts.instruction(item))))
      return true;
  return false;
}

/// Whether the VGPR that `operand` of `item` names holds what arithmetic has computed.
bool is_computed(const Facts& facts, const Reaching& reaching, size_t item, std::string operand) {
  constexpr std::array arithmetic = {"v_add_f32", "v_sub_f32",  "v_subrev_f32", "v_mul_f32", "v_max_f32",
                                     "v_min_f32", "v_max3_f32", "v_min3_f32",   "v_fma_f32", "v_fmac_f32"};
  for (int step = 0; step < longest_way; ++step) {
    const auto range = operand_registers(operand);
    if (!range || range->file != isa::File::vgpr || range->count != 1 || operand != register_text(*range)) return false;
    const auto at = reaching.sole_definition(item, reaching.registers().first_of(*range));
    if (!at || *at == Reaching::entry) return false;
    const isa::Instruction& i = facts.instruction(*at);
    if (i.suffix == isa::Suffix::dpp || i.suffix == isa::Suffix::sdwa) return false;
    const std::string_view name = isa::name_of(i);
    if (std::ranges::find(arithmetic, name) != arithmetic.end()) return true;
    const InstructionText text = parse_instruction(facts.program.items[*at].text);
    if (name == "ds_bpermute_b32" && text.operands.size() == 3)
      operand = text.operands[2];
    else if (name == "v_mov_b32" && text.operands.size() == 2)
      operand = text.operands[1];
    else
      return false;
    item = *at;
  }
  return false;
}

} // namespace

std::vector<Idea> quiet_twice(const Facts& facts) {
  if (changes_mode(facts)) return {};
  const Reaching reaching(facts.program, facts.function, facts.graph);
  Idea all;
  for (const analysis::Block& block : facts.graph.blocks)
    for (size_t item = block.first; item < block.last; ++item) {
      if (!facts.is_instruction(item)) continue;
      const std::string_view name = isa::name_of(facts.instruction(item));
      if (name != "v_max_f32" && name != "v_min_f32") continue;
      const InstructionText text = parse_instruction(facts.program.items[item].text);
      const bool same = text.operands.size() == 3 && text.operands[1] == text.operands[2] && text.modifiers.empty();
      if (!same || !is_computed(facts, reaching, item, text.operands[1])) continue;
      all.edits.push_back({item, item + 1, fmt::format("v_mov_b32_e32 {}, {}\n", text.operands[0], text.operands[1])});
      all.promise += facts.heat_of(block.first, block.last);
    }
  if (all.edits.empty()) return {};
  all.rationale = fmt::format("{} numbers that were canonical already", all.edits.size());
  std::vector<Idea> ideas;
  ideas.push_back(std::move(all));
  return ideas;
}

} // namespace asmevo::search::rewrite
