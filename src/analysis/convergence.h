// Barrier convergence: rule R012.
//
// s_barrier counts waves, not places: the waves of a workgroup go on when each of them stands at some barrier. A wave
// that passes one by meets the others at the next, from there on the two sides of each barrier are mixed, and what the
// barriers were to order is ordered no more. So wherever waves part ways, they must have passed equally many barriers
// when they meet again.
//
// That is judged at branches whose condition differs between waves (divergence.h), from the branch to the place that
// all ways out of it lead through. Branches that leave a loop are not: a counter that begins at a work-item id and runs
// to a multiple of the workgroup's size differs between waves at every step and yet makes equally many of them. Nor are
// branches that decide whether a loop around a barrier runs at all. Waves that end are not waited for: a way out that
// only ends is no fault. Two such branches, one behind the other, may balance each other, as schedules do on purpose
// that let half of the waves run ahead: where there are several that one wave may meet, none is judged.
#pragma once

#include "analysis/cfg.h"
#include "analysis/waits.h"

namespace asmevo::analysis {

/// R012 of one kernel; nothing for device functions and where a workgroup is one wave.
std::vector<Finding> verify_convergence(const recover::Program& program, const recover::Function& function,
                                        const Graph& graph);

} // namespace asmevo::analysis
