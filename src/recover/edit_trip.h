// Whether a program survives edits.
//
// The unedited round trip shows that nothing is lost; it cannot show that nothing is tied to its place. So the code is
// moved on purpose: instructions that do nothing are inserted everywhere, and a block is put behind the end of its
// function with a branch there and a branch back. What was rebuilt is recovered again, and every instruction must be
// there in order, every branch, call, address computation and pointer must lead to the instruction that it led to.
#pragma once

#include "recover/program.h"

namespace asmevo::recover {

struct EditTrip {
  size_t inserted = 0, moved = 0; // instructions
  std::vector<std::string> differences;
};

/// Inserts s_nop before one in twenty instructions, and in a second trial moves a block of a random function; both
/// follow from `seed`. An object whose code must not change its size gives a difference that says so.
/// Errors: the rebuilt object cannot be read or recovered.
Result<EditTrip> edit_trip(const Program& program, const isa::Codec& codec, uint64_t seed);

inline constexpr size_t added = ~size_t{0};

/// How `after` is not `before` up to the instructions that were added. `order`: for each instruction of `after` its
/// ordinal among those of `before`, or `added`. Bounded.
std::vector<std::string> moved_differences(const Program& before, const Program& after, std::span<const size_t> order);

} // namespace asmevo::recover
