// Access patterns, digested: which cache lines a vector access touches, how many LDS accesses its bank conflicts leave.
//
// A trace interns lane addresses, so a GEMM of a million loads has a few dozen patterns. Each is worked out once per
// image and trace; a timed access then only adds its base to a short list of line offsets.
#pragma once

#include "isa/target.h"
#include "machine/trace.h"

#include <span>
#include <vector>

namespace asmevo::timing {

inline constexpr uint32_t line_bytes = 128; // of L1 and L2 alike on CDNA

/// One 128-byte line of an access, relative to its base.
struct LineTouch {
  uint32_t line = 0;  // offset / 128
  uint8_t halves = 0; // 64-byte halves touched, 2 bits
};

struct PatternCost {
  uint32_t first = 0, lines = 0; // slice of PatternTable::lines
  uint32_t halves = 0;           // 64-byte halves of them
  uint32_t bank_lines = 0;       // most of them in one of the four tag banks of L1
  uint32_t lanes = 0;            // active
  uint32_t bytes = 0;            // of all active lanes
  uint32_t lead = 0;             // offset of the first active lane
  uint32_t lds_accesses = 0;     // LDS only: after conflicts, summed over `next`
};

class PatternTable {
public:
  PatternTable(const machine::Trace& trace, isa::Processor processor);

  const PatternCost& operator[](uint32_t pattern) const { return costs_[pattern]; }
  std::span<const LineTouch> lines(const PatternCost& cost) const { return {lines_.data() + cost.first, cost.lines}; }
  size_t size() const { return costs_.size(); }

private:
  std::vector<PatternCost> costs_;
  std::vector<LineTouch> lines_;
};

/// Accesses that the banks need for one pattern, without `next`: per phase, the largest number of different dwords
/// that lie in one bank. Phases and banks per width as measured (amd-shark-ai guide; HipKittens phase experiments).
uint32_t lds_accesses(const machine::AccessPattern& pattern, isa::Processor processor);

} // namespace asmevo::timing
