#include "search/drivers/rewrite/block_values.h"

#include "isa/traits.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

bool names_just(const std::string& operand, uint16_t vgpr) {
  const auto range = operand_registers(operand);
  return range && *range == isa::RegisterRange{isa::File::vgpr, vgpr, 1};
}

} // namespace

BlockValues::BlockValues(const Facts& facts, const analysis::Block& block, const analysis::DependenceGraph& graph)
    : facts_(facts), busy_(busy_registers(facts, block)) {
  unsigned epoch = 0;
  for (uint32_t node = 0; node < graph.items.size(); ++node) {
    const isa::Instruction& i = facts.instruction(graph.items[node]);
    texts_.push_back(parse_instruction(facts.program.items[graph.items[node]].text));
    epochs_.push_back(epoch);
    read(node, i);
    write(node, i);
    if (writes(i, exec)) ++epoch;
  }
  for (const auto& [vgpr, value] : holds_)
    if (facts.live_after(block.last - 1)[analysis::bit_of(isa::File::vgpr, vgpr)]) values_[value].goes_on = true;
}

size_t BlockValues::current(uint16_t vgpr) {
  const auto [at, added] = holds_.try_emplace(vgpr, values_.size());
  if (added) values_.push_back({.vgpr = vgpr, .maker = std::nullopt, .readers = {}, .other_readers = {}});
  return at->second;
}

void BlockValues::read(uint32_t node, const isa::Instruction& i) {
  const InstructionText& text = texts_[node];
  for (const isa::RegisterRange& use : i.uses) {
    if (use.file != isa::File::vgpr) continue;
    const auto read = std::ranges::count_if(i.uses, [&](const auto& other) { return other.overlaps(use); });
    size_t named = 0;
    for (size_t o = i.explicit_defs; o < text.operands.size(); ++o) named += names_just(text.operands[o], use.first);
    const bool plain = use.count == 1 && !i.traits.relative && !crosses_lanes(i) && size_t(read) == named;
    for (uint16_t v = use.first; v < use.first + use.count && !plain; ++v)
      values_[current(v)].other_readers.push_back(node);
    for (size_t o = i.explicit_defs; o < text.operands.size() && plain; ++o)
      if (names_just(text.operands[o], use.first) && reads_.emplace(std::pair{node, o}, current(use.first)).second)
        values_[current(use.first)].readers.emplace_back(node, o);
    // Besides what it names, the half of the destination that it keeps.
    if (plain && isa::keeps_other_half(isa::name_of(i)) && !i.defs.empty() && i.defs.front() == use)
      values_[current(use.first)].other_readers.push_back(node);
  }
}

void BlockValues::write(uint32_t node, const isa::Instruction& i) {
  for (const isa::RegisterRange& def : i.defs) {
    if (def.file != isa::File::vgpr) continue;
    const bool alone = i.defs.size() == 1 && i.explicit_defs == 1 && def.count == 1 && !i.traits.relative &&
                       !crosses_lanes(i) && names_just(texts_[node].operands[0], def.first);
    for (uint16_t v = def.first; v < def.first + def.count; ++v) {
      Value& before = values_[current(v)];
      before.lasts = false;
      // Lanes that this does not write still have the value before.
      if (!before.maker || epochs_[*before.maker] != epochs_[node]) before.goes_on = true;
      holds_[v] = values_.size();
      if (alone) makes_[node] = values_.size();
      values_.push_back({.vgpr = v, .maker = node, .readers = {}, .other_readers = {}});
    }
  }
}

std::optional<size_t> BlockValues::read_by(uint32_t node, size_t operand) const {
  const auto at = reads_.find({node, operand});
  return at == reads_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<size_t> BlockValues::made_by(uint32_t node) const {
  const auto at = makes_.find(node);
  return at == makes_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<uint16_t> BlockValues::take_free() {
  for (uint16_t v = 0; v < facts_.vgpr_budget; ++v) {
    const size_t bit = analysis::bit_of(isa::File::vgpr, v);
    if (busy_[bit]) continue;
    busy_.set(bit);
    return v;
  }
  return std::nullopt;
}

void BlockValues::give_back(std::string_view vgpr) {
  busy_.reset(analysis::bit_of(isa::File::vgpr, operand_registers(vgpr)->first));
}

} // namespace asmevo::search::rewrite
