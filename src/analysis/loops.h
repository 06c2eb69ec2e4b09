// Dominators and loops.
//
// A block dominates another if every path from an entry to that one leads through it. An edge back to a block that
// dominates its source closes a loop, whose blocks are those that reach the source without passing the header. Branches
// into the middle of a cycle make no loop in this sense.
//
// How often a loop runs can often be read from the code: one register counts by a constant from a constant to a
// constant. That is a fact only if nothing else changes the register, if the step is taken once an iteration, and if
// there is no other way out.
#pragma once

#include "analysis/cfg.h"

#include <optional>

namespace asmevo::analysis {

class Dominators {
public:
  explicit Dominators(const Graph& graph);
  /// Every block dominates itself. What no entry reaches is dominated by nothing else.
  bool dominates(uint32_t block, uint32_t other) const;
  /// Nothing for entries and for what no entry reaches.
  std::optional<uint32_t> immediate(uint32_t block) const;

private:
  static constexpr uint32_t none = 0xffffffff;
  std::vector<uint32_t> immediate_;
  std::vector<uint32_t> depth_;
};

struct Loop {
  uint32_t header = 0;
  std::vector<uint32_t> latches;      // blocks that branch back to it
  std::vector<uint32_t> blocks;       // sorted, the header among them
  uint32_t depth = 1;                 // loops that it lies in, itself included
  std::optional<uint64_t> iterations; // of the header, each time the loop is entered; where the code says so

  bool contains(uint32_t block) const;
};

/// By the position of their headers.
std::vector<Loop> loops(const recover::Program& program, const recover::Function& function, const Graph& graph);

} // namespace asmevo::analysis
