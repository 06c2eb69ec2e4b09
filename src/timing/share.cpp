// Which workgroups stand for the launch, and what surrounds their compute unit.
#include "timing/share.h"

#include <algorithm>

namespace asmevo::timing {

Share share_of_a_cu(const Grid& grid, const DeviceTable& device, uint64_t workgroups_per_cu, const Values& values,
                    double budget) {
  Share share;
  const uint64_t on_xcd = (grid.count() + device.xcds - 1) / device.xcds;
  const uint64_t cus = device.compute_units_per_xcd();
  const uint64_t cu = (on_xcd - 1) % cus; // gets the last one
  share.workgroups = (on_xcd + cus - 1) / cus;
  const uint64_t resident = std::max<uint64_t>(1, workgroups_per_cu);
  share.program.resident = static_cast<uint32_t>(resident);

  double waves = 1;
  if (!grid.samples().empty()) waves = double(grid.samples().front().waves.size());
  const double per_workgroup = std::max(values.dispatch_workgroup, waves * values.dispatch_wave);
  share.program.arrival_first = double(cu) * per_workgroup;
  share.program.arrival_spacing = double(std::min(cus, on_xcd)) * per_workgroup;

  const double affordable = budget / std::max(1.0, grid.mean_events() * double(resident));
  const uint64_t generations = affordable >= 3 ? 3 : affordable >= 2 ? 2 : 1;
  const uint64_t simulated = std::min(share.workgroups, generations * resident);
  double work = 0;
  for (uint64_t j = 0; j < simulated; ++j) {
    const uint64_t generation = j / resident, within = j % resident;
    uint64_t place = j;
    if (simulated < share.workgroups) {
      if (generation == 1 && generations == 3) place = (share.workgroups - resident) / 2 + within;
      if (generation + 1 == generations && generations > 1) place = share.workgroups - resident + within;
    }
    const uint64_t id = std::min(grid.count() - 1, (place * cus + cu) * device.xcds);
    share.program.workgroups.push_back(id);
    work += double(grid.samples()[grid.stand_in(id)].events);
  }
  if (work > 0) share.skipped_scale = grid.mean_events() / (work / double(simulated));
  return share;
}

double extrapolated_cycles(const Share& share, const CuResult& cu) {
  const uint64_t simulated = share.program.workgroups.size(), resident = share.program.resident;
  if (share.workgroups <= simulated || cu.completions.size() < simulated) return 0;
  const auto& done = cu.completions;
  const double rate = simulated >= 2 * resident ? double(done[2 * resident - 1] - done[resident - 1]) / double(resident)
                                                : double(done.back()) / double(resident);
  const double slowest_dispatch = std::max(rate, share.program.arrival_spacing);
  return double(share.workgroups - simulated) * slowest_dispatch * share.skipped_scale;
}

Surroundings surroundings_of(const Grid& grid, const DeviceTable& device, bool repeated) {
  Surroundings s;
  s.active_cus = static_cast<uint32_t>(std::min<uint64_t>(grid.count(), device.compute_units));
  s.active_cus_per_xcd = (s.active_cus + device.xcds - 1) / device.xcds;
  s.l2_share_scale = grid.mean_xcd_sharing();
  // All of it while it fits, less of it beyond: replacement is not strict enough to lose everything at once.
  // Streamed lines leave before the others, so what is kept has L2 to itself.
  const auto warm = [&](double footprint) {
    const double share = std::clamp(2 - footprint / double(device.l2_bytes), 0.0, 1.0);
    // Another kernel before: a line is in the right one of the L2s by chance.
    return repeated ? share : share / double(std::min<uint64_t>(device.xcds, grid.count()));
  };
  s.l2_warm = warm(grid.kept_xcd_footprint());
  s.l2_warm_streamed = warm(grid.xcd_footprint());
  const double footprint = std::max(1.0, grid.footprint());
  s.mall_hit = std::min(1.0, double(device.mall_bytes) / footprint);
  return s;
}

} // namespace asmevo::timing
