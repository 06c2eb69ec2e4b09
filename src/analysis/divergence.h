// Which values differ between the waves of a workgroup.
//
// Every wave of a workgroup begins with the same SGPRs, but with other work-item ids. What is computed from those
// differs from wave to wave, and so does what is loaded from addresses computed from them. What is loaded from one
// address is the same for all: that is how a workgroup agrees on something. Lane numbers within the wave (v_mbcnt, an
// id masked to six bits) are no difference either: all waves have the same 64.
//
// This is about what certainly comes from a work-item id. A value whose source is not followed (spilled lanes, scratch,
// what a call leaves, what was assigned in one arm of a branch alone) counts as the same in all waves.
#pragma once

#include "analysis/cfg.h"
#include "analysis/registers.h"

namespace asmevo::analysis {

/// By block: the condition of the branch at its end differs between waves, so some may go either way.
std::vector<bool> diverging_branches(const recover::Program& program, const recover::Function& function,
                                     const Graph& graph);

} // namespace asmevo::analysis
