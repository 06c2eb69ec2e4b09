// From traces to an estimate, without a machine::Image: what estimate() does once it has taken the image apart.
#pragma once

#include "timing/device_table.h"

#include <span>

namespace asmevo::timing {

struct TracedLaunch {
  std::span<const isa::Instruction> code; // what the trace's events index
  isa::Target target;
  const machine::Trace* trace = nullptr;
  isa::Occupancy occupancy;
  std::array<uint32_t, 3> workgroups{1, 1, 1};
};

/// Whether every event names an instruction and a workgroup of the launch.
Result<void> check(const TracedLaunch& launch);

Result<Estimate> estimate_traced(const TracedLaunch& launch, const DeviceTable& device, const EstimateOptions& options);

} // namespace asmevo::timing
