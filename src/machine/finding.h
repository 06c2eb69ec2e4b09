// What strict mode finds in a run: values. strict/strict.h says how.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::machine {

enum class FindingKind : uint8_t {
  missing_wait,  // a register is used before the load that brings it has finished
  hazard,        // wait states are missing between two instructions
  race,          // two waves access the same bytes, one of them writes, and nothing orders them
  uninitialised, // a register, LDS or scratch is read that nothing has written
  out_of_bounds,
  misaligned
};

/// "missing wait", "hazard", "race", ...
std::string_view name_of(FindingKind kind);

/// One pair of instructions (or one instruction) that strict mode objects to, with the first time it was seen.
struct Finding {
  FindingKind kind = FindingKind::missing_wait;
  uint32_t instruction = 0; // index in the image: the consumer, or the later access
  int64_t cause = -1;       // index of the producer, or the earlier access; -1 where there is none
  uint32_t workgroup = 0, wave = 0;
  int lane = -1;       // -1 where it is not about a lane
  uint64_t count = 0;  // wave-instructions
  std::string message; // "reads v2 before the load has finished: s_waitcnt vmcnt(0) is missing"
};

/// How the strict part of a run ended, for those who read findings.
struct StrictReport {
  std::vector<Finding> findings; // by address
  std::vector<std::string> gaps; // what could not be watched, for example "accesses of `out`: no host memory"
};

} // namespace asmevo::machine
