// The seam to the machine: a Work's image becomes code and target, its resources an occupancy.
#include "timing/timing.h"

#include "timing/rehearsal.h"

namespace asmevo::timing {

std::string_view stall_name(Stall stall) {
  static constexpr std::string_view names[] = {"dependency", "vmcnt",        "lgkmcnt",           "expcnt",
                                               "pipe busy",  "LDS conflict", "memory throughput", "barrier",
                                               "fetch",      "not selected"};
  static_assert(std::size(names) == size_t(Stall::count_));
  return stall < Stall::count_ ? names[size_t(stall)] : "unknown";
}

namespace {

Result<TracedLaunch> launch_of(const Work& work, const machine::Trace* trace) {
  if (!work.image || !trace) return fail("timing: no image or no trace was given");
  const isa::Target& target = work.image->target();
  const TracedLaunch launch = {
      .code = work.image->instructions(),
      .target = target,
      .trace = trace,
      .occupancy = isa::occupancy(work.resources, target.processor, work.workgroup_size, work.dynamic_lds),
      .workgroups = work.workgroups,
  };
  if (launch.occupancy.workgroups_per_cu == 0)
    return fail("timing: a workgroup of {} work-items does not fit a compute unit (limited by {})", work.workgroup_size,
                launch.occupancy.limiter);
  return launch;
}

} // namespace

Result<Estimate> estimate(const Work& work, const DeviceTable& device, const EstimateOptions& options) {
  AE_TRY(const TracedLaunch launch, launch_of(work, work.trace));
  return estimate_traced(launch, device, options);
}

Result<std::shared_ptr<const Rehearsal>> rehearse(const Work& work, std::shared_ptr<const machine::Trace> trace,
                                                  const DeviceTable& device, const EstimateOptions& options) {
  AE_TRY(const TracedLaunch launch, launch_of(work, trace.get()));
  return Rehearsal::create(launch, std::move(trace), device, options);
}

} // namespace asmevo::timing
