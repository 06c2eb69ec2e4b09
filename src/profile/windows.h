// Hot windows: the parts of the code that the time goes to.
//
// A window is a basic block, since that is what can be rescheduled as a whole. Unrolled loops have blocks of a thousand
// instructions, which nobody reads and no edit covers; those are cut into spans, each cut made where it costs least.
#pragma once

#include "profile/profile.h"

#include <span>

namespace asmevo::profile {

struct Window {
  size_t begin = 0, end = 0;      // instructions of the code
  uint64_t first = 0, last = 0;   // addresses [first, last)
  bool whole_block = true;        // else a span of a longer one
  double issues = 0;              // executions by waves of its instructions, at most
  double cost = 0;                // in the book that counts (Profile::cost)
  double issuing = 0;             // of that
  Stalls stalls{};                // the rest of it
  std::string_view bound() const; // what most of its cost is: "issue" or the name of a reason
};

/// All windows that cost anything, the most expensive first, then by address. `code` in address order.
std::vector<Window> hot_windows(const Profile& profile, std::span<const isa::Instruction> code);

/// Basic blocks [begin, end) of straight code, by position: a branch ends one, a target of a direct one begins one.
std::vector<std::pair<size_t, size_t>> basic_blocks(std::span<const isa::Instruction> code);

} // namespace asmevo::profile
