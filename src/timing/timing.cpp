// The seam to the machine: a Work's image becomes code and target, its resources an occupancy.
#include "timing/timing.h"

#include "timing/estimate.h"

namespace asmevo::timing {

std::string_view stall_name(Stall stall) {
  static constexpr std::string_view names[] = {"dependency", "vmcnt",        "lgkmcnt",           "expcnt",
                                               "pipe busy",  "LDS conflict", "memory throughput", "barrier",
                                               "fetch",      "not selected"};
  static_assert(std::size(names) == size_t(Stall::count_));
  return stall < Stall::count_ ? names[size_t(stall)] : "unknown";
}

Result<Estimate> estimate(const Work& work, const DeviceTable& device, const EstimateOptions& options) {
  if (!work.image || !work.trace) return fail("timing: no image or no trace was given");
  const isa::Target& target = work.image->target();
  const TracedLaunch launch = {
      .code = work.image->instructions(),
      .target = target,
      .trace = work.trace,
      .occupancy = isa::occupancy(work.resources, target.processor, work.workgroup_size, work.dynamic_lds),
      .workgroups = work.workgroups,
  };
  if (launch.occupancy.workgroups_per_cu == 0)
    return fail("timing: a workgroup of {} work-items does not fit a compute unit (limited by {})", work.workgroup_size,
                launch.occupancy.limiter);
  return estimate_traced(launch, device, options);
}

} // namespace asmevo::timing
