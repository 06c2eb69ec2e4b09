#include "search/drivers/rewrite/local.h"

#include <algorithm>
#include <array>
#include <map>

namespace asmevo::search::rewrite {

namespace {

bool any_overlaps(const std::vector<isa::RegisterRange>& ranges, const isa::RegisterRange& range) {
  return std::ranges::any_of(ranges, [&](const isa::RegisterRange& r) { return r.overlaps(range); });
}

} // namespace

size_t function_index(const Facts& facts) {
  const auto at = std::ranges::find(facts.program.functions, facts.function.first, &recover::Function::first);
  return at == facts.program.functions.end() ? 0 : size_t(at - facts.program.functions.begin());
}

bool reads(const isa::Instruction& instruction, const isa::RegisterRange& range) {
  return any_overlaps(instruction.uses, range) || analysis::is_call(instruction);
}

bool writes(const isa::Instruction& instruction, const isa::RegisterRange& range) {
  return any_overlaps(instruction.defs, range) || analysis::is_call(instruction);
}

analysis::RegisterSet busy_registers(const Facts& facts, const analysis::Block& block) {
  analysis::RegisterSet busy;
  for (size_t item = block.first; item < block.last; ++item) {
    busy |= facts.live_before(item) | facts.live_after(item);
    if (!facts.is_instruction(item)) continue;
    busy |= analysis::set_of(facts.instruction(item).defs) | analysis::set_of(facts.instruction(item).uses);
  }
  return busy;
}

bool written_between(const Facts& facts, const isa::RegisterRange& range, size_t first, size_t last) {
  for (size_t item = first; item < last; ++item)
    if (facts.is_instruction(item) && writes(facts.instruction(item), range)) return true;
  return false;
}

bool read_between(const Facts& facts, const isa::RegisterRange& range, size_t first, size_t last) {
  for (size_t item = first; item < last; ++item)
    if (facts.is_instruction(item) && reads(facts.instruction(item), range)) return true;
  return false;
}

std::optional<size_t> definition_of(const Facts& facts, const analysis::Block& block, size_t item,
                                    const isa::RegisterRange& range) {
  for (size_t at = item; at-- > block.first;)
    if (facts.is_instruction(at) && writes(facts.instruction(at), range)) return at;
  return std::nullopt;
}

std::optional<size_t> defined_by(const Facts& facts, const analysis::Block& block, size_t item,
                                 std::string_view operand, std::string_view mnemonic) {
  auto range = operand_registers(operand);
  if (!range) return std::nullopt;
  auto at = definition_of(facts, block, item, *range);
  return at && isa::name_of(facts.instruction(*at)) == mnemonic ? at : std::nullopt;
}

std::optional<Line> definition_line(const Facts& facts, const analysis::Block& block, size_t item,
                                    std::string_view operand, std::string_view mnemonic) {
  auto at = defined_by(facts, block, item, operand, mnemonic);
  if (!at) return std::nullopt;
  return Line{*at, parse_instruction(facts.program.items[*at].text)};
}

std::optional<uint32_t> entered_from(const Facts& facts, uint32_t number) {
  const analysis::Block& block = facts.graph.blocks[number];
  const auto back = std::ranges::count(block.predecessors, number);
  if (number == 0 || back != 1 || block.predecessors.size() != 2) return std::nullopt;
  if (std::ranges::find(facts.graph.entries, number) != facts.graph.entries.end()) return std::nullopt;
  const uint32_t before = number - 1;
  const analysis::Block& from = facts.graph.blocks[before];
  if (std::ranges::find(block.predecessors, before) == block.predecessors.end() || from.last != block.first)
    return std::nullopt;
  // Both sides of its branch might lead here.
  const size_t last = from.last - 1;
  if (facts.is_instruction(last) && facts.instruction(last).traits.branch) {
    for (size_t item = block.first; item < block.last && !facts.is_instruction(item); ++item)
      if (facts.program.items[item].text == facts.program.items[last].target) return std::nullopt;
  }
  return before;
}

std::string condition_of(const InstructionText& select) {
  return select.operands.size() == 4 ? select.operands[3] : "vcc";
}

std::vector<Idea> replace_pairs(const Facts& facts, std::string_view mnemonic, PairMatch match, std::string_view what) {
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

std::vector<Idea> replace_sequences(const Facts& facts, std::string_view mnemonic, SequenceMatch match,
                                    std::string_view what) {
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks) {
    std::map<size_t, recover::Edit> edits; // by item
    size_t times = 0;
    for (size_t item = block.first; item < block.last; ++item) {
      if (!facts.is_instruction(item) || isa::name_of(facts.instruction(item)) != mnemonic) continue;
      std::vector<recover::Edit> found = match(facts, block, item);
      const auto taken = [&](const recover::Edit& edit) { return edits.contains(edit.first); };
      if (found.empty() || std::ranges::any_of(found, taken)) continue;
      for (recover::Edit& edit : found) edits.emplace(edit.first, std::move(edit));
      ++times;
    }
    if (times == 0) continue;
    Idea idea{.rationale = fmt::format("{} × {}", times, what), .promise = facts.heat_of(block.first, block.last)};
    for (auto& [item, edit] : edits) idea.edits.push_back(std::move(edit));
    ideas.push_back(std::move(idea));
  }
  return ideas;
}

bool crosses_lanes(const isa::Instruction& i) {
  constexpr std::array parts = {"readlane", "readfirstlane", "writelane", "permute", "permlane", "swizzle", "bpermute"};
  if (i.traits.mfma || i.suffix == isa::Suffix::dpp) return true;
  const std::string_view name = isa::name_of(i);
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != name.npos; });
}

bool keeps_a_part(const isa::Instruction& i, const InstructionText& text, const isa::RegisterRange& destination) {
  bool named = false;
  for (size_t k = i.explicit_defs; k < text.operands.size(); ++k)
    if (const auto range = operand_registers(text.operands[k])) named |= range->overlaps(destination);
  const bool used =
      std::ranges::any_of(i.uses, [&](const isa::RegisterRange& use) { return use.overlaps(destination); });
  if (!named || !used) return used;
  // Both: only the kind of instruction tells.
  constexpr std::array parts = {"mac_", "macc_", "writelane", "d16"};
  const std::string_view name = isa::name_of(i);
  const bool dot = name.starts_with("v_dot") && name.find("c_") != name.npos;
  return dot || i.suffix == isa::Suffix::sdwa || text.modifiers.find("op_sel") != std::string::npos ||
         std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != name.npos; });
}

bool computes_by_lane(const Facts& facts, size_t item) {
  const isa::Instruction& i = facts.instruction(item);
  const isa::Traits& t = i.traits;
  if (!t.valu || t.mfma || t.side_effects || t.relative || t.may_load || t.may_store || i.suffix != isa::Suffix::none ||
      crosses_lanes(i) || i.defs.size() != 1 || i.explicit_defs != 1 || i.defs[0].file != isa::File::vgpr)
    return false;
  const InstructionText text = parse_instruction(facts.program.items[item].text);
  return !text.operands.empty() && operand_registers(text.operands[0]) == i.defs[0] &&
         !keeps_a_part(i, text, i.defs[0]);
}

} // namespace asmevo::search::rewrite
