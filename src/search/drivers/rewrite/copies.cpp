#include "search/drivers/rewrite/copies.h"

#include "analysis/exec.h"
#include "search/drivers/rewrite/local.h"

#include <algorithm>
#include <utility>

namespace asmevo::search::rewrite {

namespace {

constexpr size_t nobody = ~size_t{0};

} // namespace

Copies::Copies(const Facts& facts, const analysis::Block& block, const std::vector<size_t>& left_out,
               const ExecRegions& regions, std::vector<Stepper> steppers)
    : facts_(facts), block_(block), regions_(regions), steppers_(std::move(steppers)), holder_(512, nobody),
      enters_(512, false), taken_(512, false),
      full_exec_(analysis::full_exec(facts.program, facts.function, facts.graph)) {
  for (size_t item = block.first; item < block.last; ++item) {
    if (!facts.is_instruction(item) || std::ranges::find(left_out, item) != left_out.end() ||
        std::ranges::find(steppers_, item, &Stepper::item) != steppers_.end())
      continue;
    const isa::Instruction& i = facts.instruction(item);
    if (i.traits.waitcnt || isa::name_of(i) == "s_nop") continue;
    items_.push_back(item);
    texts_.push_back(parse_instruction(facts.program.items[item].text));
  }
  find_values();
  for (uint16_t v = 0; v < 512; ++v) {
    const size_t bit = analysis::bit_of(isa::File::vgpr, v);
    bool busy = v >= facts.vgpr_budget;
    for (size_t item = block.first; item < block.last && !busy; ++item)
      busy = facts.live_before(item)[bit] || facts.live_after(item)[bit];
    for (const Stepper& stepper : steppers_)
      busy |= stepper.second && v >= stepper.second->first && v < stepper.second->first + stepper.second->count;
    for (const Value& value : values_) busy |= v >= value.range.first && v < value.range.first + value.range.count;
    taken_[v] = busy;
  }
}

void Copies::fix(const isa::RegisterRange& range) {
  for (uint16_t v = range.first; v < range.first + range.count; ++v)
    if (holder_[v] != nobody) values_[holder_[v]].fixed = true;
}

void Copies::meet(size_t value) {
  Value& v = values_[value];
  if (v.region == no_region) {
    v.fixed = true;
    return;
  }
  if (v.fixed && v.previous.empty()) return;
  v.fixed = true;
  const std::vector<size_t> previous = std::exchange(v.previous, {});
  const isa::RegisterRange range = v.range;
  for (size_t k = 0; k < previous.size(); ++k) {
    if (previous[k] == nobody)
      enters_[range.first + k] = true;
    else
      meet(previous[k]);
  }
}

void Copies::read(size_t item, size_t index, const isa::RegisterRange& range, bool other_lanes) {
  const int region = regions_.region_of(items_[item]);
  for (uint16_t v = range.first; v < range.first + range.count; ++v)
    if (holder_[v] != nobody && !regions_.within(region, values_[holder_[v]].region)) meet(holder_[v]);
  const size_t value = holder_[range.first];
  if (value != nobody && !other_lanes && holds(range, value)) return operands_.push_back({item, index, value});
  for (uint16_t v = range.first; v < range.first + range.count; ++v)
    if (holder_[v] == nobody) enters_[v] = true;
  fix(range);
}

void Copies::write(size_t item, size_t index, const isa::RegisterRange& range, bool keeps) {
  if (keeps) { // the same value goes on
    const size_t value = holder_[range.first];
    if (value != nobody && values_[value].range == range && holds(range, value) &&
        values_[value].region == regions_.region_of(items_[item]))
      return operands_.push_back({item, index, value});
    for (uint16_t v = range.first; v < range.first + range.count; ++v)
      if (holder_[v] == nobody) enters_[v] = true;
    fix(range);
  }
  Value next{.range = range, .fixed = keeps, .region = regions_.region_of(items_[item])};
  if (next.region != no_region)
    next.previous.assign(holder_.begin() + range.first, holder_.begin() + range.first + range.count);
  values_.push_back(std::move(next));
  operands_.push_back({item, index, values_.size() - 1});
  for (uint16_t v = range.first; v < range.first + range.count; ++v) holder_[v] = values_.size() - 1;
}

bool Copies::holds(const isa::RegisterRange& range, size_t value) const {
  for (uint16_t v = range.first; v < range.first + range.count; ++v)
    if (holder_[v] != value) return false;
  return true;
}

void Copies::find_values() {
  const auto vgprs = [](std::string_view operand) -> std::optional<isa::RegisterRange> {
    const auto range = operand_registers(operand);
    return range && range->file == isa::File::vgpr ? range : std::nullopt;
  };
  for (size_t k = 0; k < items_.size(); ++k) {
    const isa::Instruction& i = facts_.instruction(items_[k]);
    const InstructionText& text = texts_[k];
    const bool other_lanes = crosses_lanes(i) && !full_exec_[items_[k] - facts_.function.first];
    for (size_t o = i.explicit_defs; o < text.operands.size(); ++o)
      if (const auto range = vgprs(text.operands[o])) read(k, o, *range, other_lanes);
    for (size_t o = 0; o < std::min<size_t>(i.explicit_defs, text.operands.size()); ++o)
      if (const auto range = vgprs(text.operands[o])) write(k, o, *range, keeps_a_part(i, text, *range));
  }
  // A region's value that is wanted behind the code, or by the next copy, comes with what other lanes held.
  for (uint16_t v = 0; v < 512; ++v) {
    if (holder_[v] == nobody || values_[holder_[v]].region == no_region) continue;
    bool wanted = enters_[v];
    for (const uint32_t next : block_.successors) {
      const analysis::Block& behind = facts_.graph.blocks[next];
      if (behind.first != block_.first)
        wanted |= facts_.live_before(behind.first)[analysis::bit_of(isa::File::vgpr, v)];
    }
    if (wanted) meet(holder_[v]);
  }
  // What the next copy reads must be where it looks for it. What only comes after the last copy is there too, because
  // that one keeps its registers.
  for (uint16_t v = 0; v < 512; ++v)
    if (holder_[v] != nobody && enters_[v]) values_[holder_[v]].fixed = true;
}

/// Consecutive registers that nobody else has, beginning at an even one where there are several.
bool Copies::move(Value& value) {
  const uint16_t count = value.range.count, stride = count > 1 ? 2 : 1;
  for (uint16_t first = 0; first + count <= taken_.size(); first = uint16_t(first + stride)) {
    const auto begin = taken_.begin() + first;
    if (std::find(begin, begin + count, true) != begin + count) continue;
    std::fill(begin, begin + count, true);
    value.moved_to = first;
    return true;
  }
  return false;
}

std::string Copies::next(bool last) {
  for (Value& value : values_) {
    if (last || value.fixed || !move(value)) value.moved_to = value.range.first;
  }
  std::vector<InstructionText> texts = texts_;
  for (const Operand& operand : operands_) {
    const Value& value = values_[operand.value];
    std::string& text = texts[operand.item].operands[operand.index];
    text = renamed(text, value.range, {isa::File::vgpr, value.moved_to, value.range.count});
  }
  for (const Stepper& stepper : steppers_)
    for (const size_t use : stepper.uses) {
      InstructionText& text = texts[size_t(std::ranges::find(items_, use) - items_.begin())];
      text = stepper.later(use, std::move(text), made_);
    }
  ++made_;
  std::string lines;
  for (const InstructionText& text : texts) lines += write_instruction(text) + "\n";
  return lines;
}

} // namespace asmevo::search::rewrite
