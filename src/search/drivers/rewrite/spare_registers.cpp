#include "search/drivers/rewrite/spare_registers.h"

#include "search/drivers/rewrite/local.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

constexpr uint16_t most = 256; // of each kind

/// Registers that may have been written before each block: what others hold nobody has put there.
std::vector<analysis::RegisterSet> written_on_entry(const Facts& facts, uint32_t initial) {
  const auto& blocks = facts.graph.blocks;
  std::vector<analysis::RegisterSet> by(blocks.size()), before(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b)
    for (size_t item = blocks[b].first; item < blocks[b].last; ++item)
      if (facts.is_instruction(item)) by[b] |= analysis::set_of(facts.instruction(item).defs);
  for (const uint32_t entry : facts.graph.entries)
    before[entry] |= analysis::set_of({{isa::File::vgpr, 0, uint16_t(initial)}});
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = 0; b < blocks.size(); ++b)
      for (const uint32_t next : blocks[b].successors) {
        const analysis::RegisterSet more = before[next] | before[b] | by[b];
        changed |= more != before[next];
        before[next] = more;
      }
  }
  return before;
}

bool is_plain(const Facts& facts, size_t item) {
  const isa::Instruction& i = facts.instruction(item);
  if (analysis::is_call(i) || i.traits.relative || isa::name_of(i).starts_with("s_set_gpr_idx") ||
      i.encoding == isa::Encoding::unknown)
    return false;
  // Lanes that were off when the kernel began: for liveness a write under the mask of the beginning reaches them too.
  const InstructionText text = parse_instruction(facts.program.items[item].text);
  return !writes(i, exec) || std::ranges::find(text.operands, "-1") == text.operands.end();
}

size_t bit_of(size_t index) {
  return index < most ? analysis::bit_of(isa::File::vgpr, uint16_t(index))
                      : analysis::bit_of(isa::File::agpr, uint16_t(index - most));
}

} // namespace

std::optional<SpareRegisters> SpareRegisters::of(const Facts& facts) {
  const auto steps = RegisterSteps::of(facts);
  if (!steps || steps->vgprs() > most || steps->agprs() > most) return std::nullopt;
  // Rows that have two names.
  if (facts.liveness.registers.first_of({isa::File::agpr, 0, 1}) != analysis::agpr_unit) return std::nullopt;
  for (const analysis::Block& block : facts.graph.blocks) {
    if (block.unknown || block.returns || block.falls_off) return std::nullopt;
    for (size_t item = block.first; item < block.last; ++item)
      if (facts.is_instruction(item) && !is_plain(facts, item)) return std::nullopt;
  }
  return SpareRegisters(facts, *steps);
}

SpareRegisters::SpareRegisters(const Facts& facts, const RegisterSteps& steps)
    : steps_(steps), taken_(2 * most), vgprs_(steps.vgprs()), agprs_(steps.agprs()) {
  busy_.assign(2 * most, points_of_items(facts.function.last - facts.function.first));
  const std::vector<analysis::RegisterSet> entry = written_on_entry(facts, steps.initial());
  std::vector<size_t> named;
  for (size_t r = 0; r < vgprs_; ++r) named.push_back(r);
  for (size_t r = 0; r < agprs_; ++r) named.push_back(most + r);
  const auto mark = [&](const analysis::RegisterSet& set, size_t point) {
    for (const size_t r : named)
      if (set[bit_of(r)]) set_point(busy_[r], point);
  };
  for (uint32_t b = 0; b < facts.graph.blocks.size(); ++b) {
    analysis::RegisterSet written = entry[b];
    for (size_t item = facts.graph.blocks[b].first; item < facts.graph.blocks[b].last; ++item) {
      const size_t point = 2 * (item - facts.function.first);
      analysis::RegisterSet before = facts.live_before(item) & written, after;
      if (facts.is_instruction(item)) {
        const isa::Instruction& i = facts.instruction(item);
        before |= analysis::set_of(i.uses);
        after = analysis::set_of(i.defs);
        written |= after;
      }
      mark(before, point);
      mark(after | (facts.live_after(item) & written), point + 1);
    }
  }
}

size_t SpareRegisters::index_of(const isa::RegisterRange& one) const {
  return one.file == isa::File::agpr ? most + one.first : one.first;
}

bool SpareRegisters::may_take(const isa::RegisterRange& one, const Points& points) const {
  const bool agpr = one.file == isa::File::agpr;
  const uint32_t vgprs = std::max<uint32_t>(vgprs_, agpr ? 0 : one.first + 1u),
                 agprs = std::max<uint32_t>(agprs_, agpr ? one.first + 1u : 0);
  if ((vgprs > vgprs_ || agprs > agprs_) && !steps_.keeps_waves(vgprs, agprs)) return false;
  const size_t index = index_of(one);
  return !meet(busy_[index], points) &&
         std::ranges::none_of(taken_[index], [&](const Points& other) { return meet(other, points); });
}

std::optional<isa::RegisterRange> SpareRegisters::take(const Points& points,
                                                       const std::vector<isa::RegisterRange>& liked) {
  std::vector<isa::RegisterRange> choice = liked;
  const auto add = [&](isa::File file, uint32_t first, uint32_t last) {
    for (uint32_t r = first; r < std::min<uint32_t>(last, most); ++r) choice.push_back({file, uint16_t(r), 1});
  };
  add(isa::File::vgpr, 0, vgprs_);
  add(isa::File::agpr, 0, agprs_);
  add(isa::File::vgpr, vgprs_, vgprs_ + 1);
  add(isa::File::agpr, agprs_, agprs_ + 1);
  const auto found = std::ranges::find_if(choice, [&](const auto& one) { return may_take(one, points); });
  if (found == choice.end()) return std::nullopt;
  taken_[index_of(*found)].push_back(points);
  (found->file == isa::File::agpr ? agprs_ : vgprs_) =
      std::max<uint32_t>(found->file == isa::File::agpr ? agprs_ : vgprs_, found->first + 1u);
  return *found;
}

void SpareRegisters::give_back(const isa::RegisterRange& taken, const Points& points) {
  std::vector<Points>& there = taken_[index_of(taken)];
  if (const auto at = std::ranges::find(there, points); at != there.end()) there.erase(at);
  while (vgprs_ > steps_.vgprs() && taken_[vgprs_ - 1].empty()) --vgprs_;
  while (agprs_ > steps_.agprs() && taken_[most + agprs_ - 1].empty()) --agprs_;
}

} // namespace asmevo::search::rewrite
