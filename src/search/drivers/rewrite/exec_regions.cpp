#include "search/drivers/rewrite/exec_regions.h"

#include "search/drivers/rewrite/local.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

/// The pair that an instruction writes back to EXEC, where it does just that.
std::optional<isa::RegisterRange> restored(const InstructionText& text) {
  if (text.operands.empty() || text.operands[0] != "exec") return std::nullopt;
  if (text.mnemonic == "s_mov_b64" && text.operands.size() == 2) return operand_registers(text.operands[1]);
  if (text.mnemonic != "s_or_b64" || text.operands.size() != 3) return std::nullopt;
  if (text.operands[1] == "exec") return operand_registers(text.operands[2]);
  if (text.operands[2] == "exec") return operand_registers(text.operands[1]);
  return std::nullopt;
}

} // namespace

std::optional<ExecRegions> ExecRegions::find(const Facts& facts, const analysis::Block& block,
                                             std::span<const size_t> besides) {
  ExecRegions found;
  std::vector<int> open;
  for (size_t item = block.first; item < block.last; ++item) {
    if (!facts.is_instruction(item)) continue;
    const isa::Instruction& i = facts.instruction(item);
    if (std::ranges::find(besides, item) != besides.end()) {
      if (!open.empty()) return std::nullopt;
      continue;
    }
    if (!writes(i, exec)) {
      const bool keeps = std::ranges::none_of(open, [&](int r) { return writes(i, found.regions_[size_t(r)].saved); });
      if (!keeps) return std::nullopt;
      continue;
    }
    const InstructionText text = parse_instruction(facts.program.items[item].text);
    if (text.mnemonic == "s_and_saveexec_b64" && text.operands.size() == 2) {
      const auto saved = operand_registers(text.operands[0]);
      if (!saved || saved->file != isa::File::sgpr || saved->count != 2) return std::nullopt;
      for (const int r : open)
        if (found.regions_[size_t(r)].saved.overlaps(*saved)) return std::nullopt;
      found.regions_.push_back({.enter = item,
                                .parent = open.empty() ? no_region : open.back(),
                                .saved = *saved,
                                .condition = text.operands[1]});
      open.push_back(int(found.regions_.size()) - 1);
      continue;
    }
    const auto mask = restored(text);
    const auto at = std::ranges::find_if(open, [&](int r) { return mask && found.regions_[size_t(r)].saved == *mask; });
    if (at == open.end()) return std::nullopt;
    for (auto r = at; r != open.end(); ++r) found.regions_[size_t(*r)].leave = item;
    open.erase(at, open.end());
  }
  if (!open.empty()) return std::nullopt;
  return found;
}

int ExecRegions::region_of(size_t item) const {
  int innermost = no_region;
  for (size_t r = 0; r < regions_.size(); ++r)
    if (item > regions_[r].enter && item < regions_[r].leave) innermost = int(r);
  return innermost;
}

bool ExecRegions::within(int inner, int outer) const {
  while (inner != outer && inner != no_region) inner = regions_[size_t(inner)].parent;
  return inner == outer;
}

} // namespace asmevo::search::rewrite
