// Lines of global patterns, bank conflicts of LDS patterns.
#include "timing/patterns.h"

#include <algorithm>
#include <array>

namespace asmevo::timing {

namespace {

using machine::AccessPattern;
using machine::inactive_lane;

// Lanes that the LDS serves together. A phase is a list of runs of consecutive lanes.
struct Run {
  uint8_t first, count;
};
using Phase = std::array<Run, 3>;

constexpr Phase run(uint8_t first, uint8_t count) { return {{{first, count}, {0, 0}, {0, 0}}}; }
constexpr Phase pair(uint8_t a, uint8_t b) { return {{{a, 4}, {b, 4}, {0, 0}}}; }

constexpr Phase by_64[] = {run(0, 64)};
constexpr Phase by_32[] = {run(0, 32), run(32, 32)};
constexpr Phase by_16[] = {run(0, 16), run(16, 16), run(32, 16), run(48, 16)};
constexpr Phase by_8[] = {run(0, 8), run(8, 8), run(16, 8), run(24, 8), run(32, 8), run(40, 8), run(48, 8), run(56, 8)};
constexpr Phase read_b128[] = {pair(0, 20), pair(32, 52), pair(4, 16),  pair(36, 48),
                               pair(8, 28), pair(40, 60), pair(12, 24), pair(44, 56)};
constexpr Phase read_b128_gfx950[] = {{{{0, 4}, {12, 4}, {20, 8}}},
                                      {{{4, 8}, {16, 4}, {28, 4}}},
                                      {{{32, 4}, {44, 4}, {52, 8}}},
                                      {{{36, 8}, {48, 4}, {60, 4}}}};

struct Layout {
  std::span<const Phase> phases;
  unsigned banks;
};

Layout layout_of(const AccessPattern& p, isa::Processor processor) {
  const unsigned width = p.bytes <= 4 ? 4 : p.bytes <= 8 ? 8 : p.bytes <= 12 ? 12 : 16;
  if (processor >= isa::Processor::gfx950 && !p.write) {
    if (width == 4) return {by_64, 64};
    if (width == 8) return {by_32, 64};
    if (width == 16) return {read_b128_gfx950, 64};
  }
  if (width == 4) return {by_32, 32};
  if (width == 8) return {by_16, 32};
  return {p.write ? std::span<const Phase>(by_8) : read_b128, 32};
}

} // namespace

uint32_t lds_accesses(const AccessPattern& p, isa::Processor processor) {
  const Layout layout = layout_of(p, processor);
  const unsigned dwords = std::max(1u, (p.bytes + 3) / 4);
  uint32_t total = 0;
  std::vector<uint32_t> touched;
  for (const Phase& phase : layout.phases) {
    touched.clear();
    for (const Run& r : phase)
      for (unsigned lane = r.first; lane < unsigned(r.first + r.count); ++lane)
        if (p.offset[lane] != inactive_lane)
          for (unsigned d = 0; d < dwords; ++d) touched.push_back(p.offset[lane] / 4 + d);
    std::ranges::sort(touched);
    const auto repeated = std::ranges::unique(touched);
    touched.erase(repeated.begin(), repeated.end());
    std::array<uint32_t, 64> in_bank{};
    uint32_t most = 0;
    for (uint32_t dword : touched) most = std::max(most, ++in_bank[dword % layout.banks]);
    total += most;
  }
  return total;
}

PatternTable::PatternTable(const machine::Trace& trace, isa::Processor processor) {
  costs_.reserve(trace.patterns.size());
  std::vector<LineTouch> touched;
  for (const AccessPattern& p : trace.patterns) {
    PatternCost cost;
    cost.first = static_cast<uint32_t>(lines_.size());
    touched.clear();
    for (uint32_t offset : p.offset) {
      if (offset == inactive_lane) continue;
      if (cost.lanes++ == 0) cost.lead = offset;
      cost.bytes += p.bytes;
      if (p.space == machine::Space::lds) continue;
      for (uint32_t half = offset / 64; half <= (offset + std::max(1u, p.bytes) - 1) / 64; ++half)
        touched.push_back({half / 2, static_cast<uint8_t>(1u << half % 2)});
    }
    std::ranges::sort(touched, {}, &LineTouch::line);
    for (const LineTouch& t : touched)
      if (lines_.size() > cost.first && lines_.back().line == t.line)
        lines_.back().halves |= t.halves;
      else
        lines_.push_back(t);
    cost.lines = static_cast<uint32_t>(lines_.size()) - cost.first;
    std::array<uint32_t, 4> in_bank{};
    for (uint32_t i = cost.first; i < lines_.size(); ++i) {
      cost.bank_lines = std::max(cost.bank_lines, ++in_bank[lines_[i].line % 4]);
      cost.halves += lines_[i].halves == 3 ? 2 : 1;
    }
    if (p.space == machine::Space::lds) cost.lds_accesses = lds_accesses(p, processor);
    costs_.push_back(cost);
  }
  // read2 and write2 make two patterns of one instruction. `next` always names an earlier or later pattern of the same
  // trace; only one level exists, so one pass adds the second part to the first.
  std::vector<PatternCost> alone = costs_;
  for (size_t i = 0; i < costs_.size(); ++i) {
    const uint32_t next = trace.patterns[i].next;
    if (next >= alone.size() || trace.patterns[i].space != machine::Space::lds) continue;
    costs_[i].lds_accesses += alone[next].lds_accesses;
    costs_[i].bytes += alone[next].bytes;
  }
}

} // namespace asmevo::timing
