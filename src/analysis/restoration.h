// EXEC restored: rule R013.
//
// A caller goes on after a call with the lanes that it had. So a device function returns with EXEC as it found it:
// narrowed by a branch, it is written back from the register that kept it; switched on altogether (to spill a register
// of all lanes, say), likewise.
//
// Masks are followed as one of four things: what EXEC was at entry, all ones, a part of the entry's lanes, or unknown.
// Only a function that returns with a part, or with all ones, on some path is reported. What comes back from a spill,
// the accumulated masks of loops and arithmetic on masks are unknown, and so never are.
//
// Kernels are not judged: to end the lanes that have nothing to do, and never to switch them on again, is what an early
// return looks like, and no different from a restore that was forgotten.
#pragma once

#include "analysis/cfg.h"
#include "analysis/finding.h"

namespace asmevo::analysis {

/// R013 of one device function; nothing for kernels.
std::vector<Finding> verify_restored_exec(const recover::Program& program, const recover::Function& function,
                                          const Graph& graph);

} // namespace asmevo::analysis
