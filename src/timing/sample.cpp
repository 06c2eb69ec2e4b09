// Which workgroups to trace.
//
// Small grids: all. Otherwise a base point off the border and its neighbour along each dimension (they show how
// addresses move), the first and the last workgroup and the far end of each dimension (borders often do less, or more),
// and the quarters of the grid (work that changes along it, as under a causal mask).
#include "timing/device_table.h"

#include <algorithm>

namespace asmevo::timing {

static constexpr uint64_t small_grid = 12;
static constexpr uint64_t most_waiting = 8; // times what the device holds: grids of kernels that wait for each other

std::vector<uint32_t> sample_workgroups(std::array<uint32_t, 3> shape, const isa::Occupancy&, const DeviceTable&) {
  const uint64_t count = uint64_t{shape[0]} * shape[1] * shape[2];
  std::vector<uint32_t> ids;
  if (count <= small_grid) {
    for (uint64_t id = 0; id < count; ++id) ids.push_back(static_cast<uint32_t>(id));
    return ids;
  }
  const auto linear = [&](std::array<uint32_t, 3> at) {
    return static_cast<uint32_t>((uint64_t{at[2]} * shape[1] + at[1]) * shape[0] + at[0]);
  };
  std::array<uint32_t, 3> base{};
  for (int d = 0; d < 3; ++d) base[d] = shape[d] > 2 ? 1 : 0;
  ids = {0, linear(base), static_cast<uint32_t>(count - 1)};
  for (int d = 0; d < 3; ++d) {
    if (shape[d] < 2) continue;
    auto neighbour = base, far = base;
    ++neighbour[d];
    far[d] = shape[d] - 1;
    ids.push_back(linear(neighbour));
    ids.push_back(linear(far));
  }
  for (uint64_t quarter = 1; quarter < 4; ++quarter) ids.push_back(static_cast<uint32_t>(count * quarter / 4));
  std::ranges::sort(ids);
  const auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
  return ids;
}

machine::RunOptions sampling(const machine::Image& image, std::array<uint32_t, 3> workgroups,
                             const isa::Occupancy& occupancy, const DeviceTable& device) {
  const uint64_t count = uint64_t{workgroups[0]} * workgroups[1] * workgroups[2];
  const uint64_t resident = uint64_t{occupancy.workgroups_per_cu} * device.compute_units;
  return {.traced = sample_workgroups(workgroups, occupancy, device),
          .only_traced = !image.may_communicate() || count > most_waiting * resident};
}

} // namespace asmevo::timing
