#include "search/drivers/rewrite/packed_values.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

constexpr uint16_t last_named_sgpr = 101;

bool names_just(const std::string& operand, uint16_t vgpr) {
  const auto range = operand_registers(operand);
  return range && *range == isa::RegisterRange{isa::File::vgpr, vgpr, 1};
}

} // namespace

PackedValues::PackedValues(const Facts& facts, const analysis::Block& block, const analysis::DependenceGraph& graph)
    : facts_(facts), busy_(busy_registers(facts, block)), holder_(512) {
  unsigned epoch = 0;
  for (uint32_t node = 0; node < graph.items.size(); ++node) {
    const isa::Instruction& i = facts.instruction(graph.items[node]);
    texts_.push_back(parse_instruction(facts.program.items[graph.items[node]].text));
    epochs_.push_back(epoch);
    read(node, i);
    write(node, i);
    if (writes(i, exec)) ++epoch;
  }
  for (uint16_t v = 0; v < holder_.size(); ++v)
    if (holder_[v] && facts.live_after(block.last - 1)[analysis::bit_of(isa::File::vgpr, v)])
      values_[*holder_[v]].fixed = true;
}

void PackedValues::fix(const isa::RegisterRange& range) {
  for (uint16_t v = range.first; v < range.first + range.count && v < holder_.size(); ++v)
    if (holder_[v]) values_[*holder_[v]].fixed = true;
}

void PackedValues::read(uint32_t node, const isa::Instruction& i) {
  const InstructionText& text = texts_[node];
  for (const isa::RegisterRange& use : i.uses) {
    if (use.file != isa::File::vgpr) continue;
    const bool plain = use.count == 1 && !crosses_lanes(i) && !i.traits.relative && use.first < holder_.size() &&
                       holder_[use.first] && values_[*holder_[use.first]].epoch == epochs_[node];
    size_t named = 0;
    for (size_t o = i.explicit_defs; o < text.operands.size(); ++o) named += names_just(text.operands[o], use.first);
    const auto read = std::ranges::count_if(i.uses, [&](const auto& other) { return other.overlaps(use); });
    if (!plain || size_t(read) != named) {
      fix(use);
      continue;
    }
    const size_t value = *holder_[use.first];
    for (size_t o = i.explicit_defs; o < text.operands.size(); ++o)
      if (names_just(text.operands[o], use.first) && value_of_.emplace(std::pair{node, o}, value).second)
        values_[value].named.emplace_back(node, o);
  }
}

void PackedValues::write(uint32_t node, const isa::Instruction& i) {
  const InstructionText& text = texts_[node];
  for (const isa::RegisterRange& def : i.defs) {
    if (def.file != isa::File::vgpr) continue;
    const size_t index = size_t(&def - i.defs.data());
    const bool plain = def.count == 1 && index < i.explicit_defs && index < text.operands.size() &&
                       names_just(text.operands[index], def.first) && !i.traits.relative &&
                       i.suffix == isa::Suffix::none && !crosses_lanes(i) && !keeps_a_part(i, text, def);
    if (!plain) fix(def); // what was there may go on
    for (uint16_t v = def.first; v < def.first + def.count && v < holder_.size(); ++v) {
      // Lanes that this does not write still have the value before.
      if (holder_[v] && values_[*holder_[v]].epoch != epochs_[node]) values_[*holder_[v]].fixed = true;
      values_.push_back({.vgpr = v, .named = {}, .epoch = epochs_[node], .fixed = !plain});
      holder_[v] = values_.size() - 1;
      if (!plain) continue;
      value_of_[{node, index}] = values_.size() - 1;
      values_.back().named.emplace_back(node, index);
    }
  }
}

std::optional<Named> PackedValues::named(uint32_t node, size_t operand) const {
  const std::string& text = texts_[node].operands[operand];
  const auto range = operand_registers(text);
  if (!range || range->count != 1 || text.find('|') != text.npos || range->file == isa::File::agpr ||
      (range->file == isa::File::sgpr && range->first > last_named_sgpr))
    return std::nullopt;
  const auto at = value_of_.find({node, operand});
  return Named{*range, at == value_of_.end() ? std::nullopt : std::optional(at->second)};
}

std::optional<uint16_t> PackedValues::place_of(const Named& named, const Places& places) const {
  if (!named.value) return named.place.first;
  if (const auto at = places.find(*named.value); at != places.end()) return at->second;
  if (const auto at = settled_.find(*named.value); at != settled_.end()) return at->second;
  return named.place.first;
}

bool PackedValues::may_move(const Named& named, const Places& places) const {
  return named.value && !values_[*named.value].fixed && !places.contains(*named.value) &&
         !settled_.contains(*named.value);
}

bool PackedValues::is_free(uint16_t vgpr, const Places& places) const {
  if (vgpr >= facts_.vgpr_budget || busy_[analysis::bit_of(isa::File::vgpr, vgpr)] || taken_.contains(vgpr))
    return false;
  return std::ranges::none_of(places, [&](const auto& place) { return place.second == vgpr; });
}

std::optional<Halves> PackedValues::together(const Named& a, const Named& b, bool moving, Places& places) const {
  if (a.place.file != b.place.file) return std::nullopt;
  const auto found = [&](uint16_t low, uint16_t high) {
    if (a.value) places.emplace(*a.value, low);
    if (b.value) places.emplace(*b.value, high);
    return Halves{a.place.file, uint16_t(low & ~1u), (low & 1) != 0, (high & 1) != 0};
  };
  const uint16_t low = *place_of(a, places), high = *place_of(b, places);
  if (low / 2 == high / 2) return found(low, high);
  if (!moving || a.place.file != isa::File::vgpr || a.value == b.value) return std::nullopt;
  const bool a_moves = may_move(a, places), b_moves = may_move(b, places);
  if (b_moves && is_free(low ^ 1, places)) return found(low, low ^ 1);
  if (a_moves && is_free(high ^ 1, places)) return found(high ^ 1, high);
  if (!a_moves || !b_moves) return std::nullopt;
  for (uint16_t v = 0; v + 1u < facts_.vgpr_budget; v = uint16_t(v + 2))
    if (is_free(v, places) && is_free(v + 1, places)) return found(v, v + 1);
  return std::nullopt;
}

void PackedValues::settle(const Places& places) {
  for (const auto& [value, vgpr] : places) {
    settled_.emplace(value, vgpr);
    taken_.insert(vgpr);
  }
}

InstructionText PackedValues::moved_text(uint32_t node) const {
  InstructionText text = texts_[node];
  for (size_t o = 0; o < text.operands.size(); ++o) {
    const auto value = value_of_.find({node, o});
    if (value == value_of_.end()) continue;
    const auto place = settled_.find(value->second);
    if (place == settled_.end()) continue;
    text.operands[o] = renamed(text.operands[o], {isa::File::vgpr, values_[value->second].vgpr, 1},
                               {isa::File::vgpr, place->second, 1});
  }
  return text;
}

} // namespace asmevo::search::rewrite
