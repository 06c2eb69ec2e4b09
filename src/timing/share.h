// One compute unit's share of a launch.
//
// Workgroups go round robin over the XCDs and from there over their compute units, so the slowest compute unit is one
// that gets the last workgroup; that one is simulated. If it gets more workgroups than are worth simulating, three
// generations are: the first (cold caches), one from the middle of the grid and the last (which drains). The middle
// one's rate, scaled by how much the grid's average workgroup does, stands for those in between.
#pragma once

#include "timing/compute_unit.h"

namespace asmevo::timing {

/// Wave-instructions that one draw may simulate where a choice exists.
inline constexpr double instruction_budget = 400'000;

struct Share {
  uint64_t workgroups = 0;  // that the simulated compute unit runs
  CuProgram program;        // those of them that are simulated
  double skipped_scale = 1; // work of an average workgroup / of a simulated one
};
Share share_of_a_cu(const Grid& grid, const DeviceTable& device, uint64_t workgroups_per_cu, const Values& values,
                    double budget = instruction_budget);

/// Of the workgroups that were not simulated.
double extrapolated_cycles(const Share& share, const CuResult& cu);

Surroundings surroundings_of(const Grid& grid, const DeviceTable& device, bool repeated);

} // namespace asmevo::timing
