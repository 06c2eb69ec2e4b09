// Wait counters.
//
// A load returns long after it issues, and the hardware does not stop a wave that reads the register too early: the code
// must wait, by counting. One dataflow computes what may still be in flight at each point; it judges (verify) and repairs
// (insert), so that the two cannot disagree.
#pragma once

#include "analysis/cfg.h"

namespace asmevo::analysis {

/// A finding of the static gate. `rule` is a stable id ("W001"); items index the program.
struct Finding {
  std::string rule;
  size_t item = 0;       // where it goes wrong
  size_t cause = 0;      // the other end: the load, the producer
  std::string message;   // with both addresses
};

std::vector<Finding> verify_waits(const recover::Program& program, const recover::Function& function,
                                  const Graph& graph);

/// The weakest wait that items of [first, last) need before each of them; with counts from the whole function's dataflow.
/// Result is parallel to the items; fields at their maximum mean no wait.
struct Wait {
  uint8_t vmcnt = 63, expcnt = 7, lgkmcnt = 15;
  bool none() const { return vmcnt == 63 && expcnt == 7 && lgkmcnt == 15; }
  bool operator==(const Wait&) const = default;
};
std::vector<Wait> needed_waits(const recover::Program& program, const recover::Function& function, const Graph& graph,
                               size_t first, size_t last);

/// The immediate of s_waitcnt for a GFX9 target and back.
uint16_t encode_waitcnt(const Wait&);
Wait decode_waitcnt(uint16_t immediate);

} // namespace asmevo::analysis
