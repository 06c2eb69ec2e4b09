// What measured stalls wait for, as far as the code says.
//
// Samples say that a wave stood at an s_waitcnt, not for which load. The code nearly does: the counter and its limit
// name one of the memory instructions before it, and an operand names its last writer. Looked for in the block, and
// once round where the block is a loop; what comes from elsewhere stays open.
#pragma once

#include "profile/profile.h"

#include <span>

namespace asmevo::profile {

/// Adds edges for the stalls at counters and at operands. `code` in address order.
void add_producers(Profile& profile, std::span<const isa::Instruction> code);

} // namespace asmevo::profile
