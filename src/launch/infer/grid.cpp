#include "launch/infer/grid.h"

#include "isa/resources.h"

#include <algorithm>

namespace asmevo::launch {

namespace {

constexpr uint32_t unlimited = 1024;   // workgroups along one axis that all store: no guard ends the grid
constexpr uint32_t default_count = 16; // of workgroups along such an axis
constexpr uint32_t wanted_count = 4;   // along an axis that a guard ends
constexpr uint64_t most_groups = 1024, most_cost = 600'000; // of the whole launch, in wave-instructions
constexpr int64_t largest_size = 1 << 20;
constexpr int most_steps = 24;

uint32_t linear(const Position& p, const Position& grid) { return p[0] + grid[0] * (p[1] + grid[1] * p[2]); }

Bytes little_endian(uint64_t value, uint32_t size) {
  Bytes bytes(size, 0);
  for (uint32_t i = 0; i < std::min(size, 8u); ++i) bytes[i] = uint8_t(value >> 8 * i);
  return bytes;
}

bool overlap(const GroupUse& a, const GroupUse& b) {
  return std::ranges::any_of(a.pointers, [&](const auto& entry) {
    auto other = b.pointers.find(entry.first);
    return other != b.pointers.end() && entry.second.atomic.empty() &&
           entry.second.written.overlaps(other->second.written);
  });
}

} // namespace

Bench::Bench(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop)
    : prober(image, kernel, stop), path_(image.object().path), name_(kernel.name) {
  const uint32_t rsrc2 = kernel.descriptor.compute_pgm_rsrc2();
  for (unsigned d = 0; d < 3; ++d) found.axes[d] = rsrc2 >> (7 + d) & 1;
  found.item_axes = std::min(rsrc2 >> 11 & 3, 2u) + 1;
  found.pointers = prober.pointers();
  for (const Slot& slot : prober.scalars()) found.scalars.push_back({.slot = slot});
  fixed_lds_ = kernel.descriptor.group_segment_fixed_size();
  const uint32_t all = isa::lds_size(image.target().processor);
  free_lds_ = all - std::min(all, fixed_lds_);
}

bool Bench::split_wide_scalars() {
  if (!prober.split_wide_scalars()) return false;
  found.scalars.clear();
  for (const Slot& slot : prober.scalars()) found.scalars.push_back({.slot = slot});
  return true;
}

Values Bench::all_equal(int64_t size) const {
  Values values;
  for (const Scalar& s : found.scalars) values[s.slot.offset] = size;
  return values;
}

Trial Bench::trial(const Values& values, const Position& grid) const {
  Trial t{.workgroups = grid,
          .workgroup_size = found.workgroup,
          .dynamic_lds = lds_settled_ ? found.dynamic_lds : free_lds_};
  for (const Scalar& s : found.scalars) {
    auto value = values.find(s.slot.offset);
    uint64_t bits = value != values.end() ? uint64_t(value->second) : bits_of(s.type, s.factor);
    t.scalars[s.slot.offset] = little_endian(bits, s.slot.size);
  }
  if (found.background != Background::zeros) t.contents = backgrounds();
  return t;
}

Position Bench::corner_grid() const {
  Position grid{1, 1, 1};
  for (unsigned d = 0; d < 3; ++d)
    if (found.axes[d]) grid[d] = 2;
  return grid;
}

Result<ProbeResult> Bench::corner(const Values& values, bool flow) {
  const Position grid = corner_grid();
  std::vector<uint32_t> groups{0};
  for (unsigned d = 0; d < 3; ++d)
    if (found.axes[d]) {
      Position p{0, 0, 0};
      p[d] = 1;
      groups.push_back(linear(p, grid));
    }
  return prober.run(trial(values, grid), std::move(groups), flow);
}

// ---- counting workgroups

Result<std::optional<GroupUse>> Bench::group_at(const Values& values, unsigned axis, uint32_t n) {
  Position grid = corner_grid(), p{0, 0, 0};
  grid[axis] = n + 1;
  p[axis] = n;
  AE_TRY(ProbeResult result, prober.run(trial(values, grid), {linear(p, grid)}));
  if (!result.completed || result.groups.empty()) return std::optional<GroupUse>();
  return std::optional(std::move(result.groups.begin()->second));
}

/// Workgroups along an axis until they store nothing, or begin to store over the first ones.
Result<Bench::Count> Bench::count_along(const Values& values, unsigned axis) {
  uint32_t working = 0, idle = 0;
  for (uint32_t n = 1; n <= unlimited && idle == 0; n *= 2) {
    AE_TRY(std::optional<GroupUse> use, group_at(values, axis, n));
    if (!use) break; // too far out: nothing ends the grid before
    (use->stores() ? working : idle) = n;
  }
  if (idle == 0) return count_until_overlap(values, axis);
  while (idle - working > 1) {
    const uint32_t middle = working + (idle - working) / 2;
    AE_TRY(std::optional<GroupUse> use, group_at(values, axis, middle));
    (use && use->stores() ? working : idle) = middle;
  }
  return Count{idle, true};
}

Result<Bench::Count> Bench::count_until_overlap(const Values& values, unsigned axis) {
  AE_TRY(ProbeResult first, corner(values));
  const Position grid = corner_grid();
  Position own{0, 0, 0};
  own[axis] = 1;
  for (uint32_t n = 1; n < default_count; ++n) {
    AE_TRY(std::optional<GroupUse> use, group_at(values, axis, n));
    if (!use) return Count{n, false};
    for (const auto& [id, group] : first.groups)
      if ((n > 1 || id != linear(own, grid)) && overlap(*use, group)) return Count{n, true};
  }
  return Count{default_count, false};
}

Result<Bench::Grid> Bench::measure(const Values& values, const ProbeResult& corner) {
  Grid grid;
  for (unsigned d = 0; d < 3; ++d)
    if (found.axes[d]) {
      AE_TRY(grid.axes[d], count_along(values, d));
      grid.groups *= grid.axes[d].groups;
    }
  grid.cost = grid.groups * (corner.instructions / std::max<size_t>(corner.groups.size(), 1));
  return grid;
}

/// Fewer workgroups where nothing says how many there must be, then wherever there are most.
void Bench::clamp(Grid& grid) {
  while (grid.groups > most_groups || grid.cost > most_cost) {
    Count* most = nullptr;
    for (Count& axis : grid.axes)
      if (axis.groups > 1 && (!most || std::pair(!axis.limited, axis.groups) > std::pair(!most->limited, most->groups)))
        most = &axis;
    if (!most) return;
    const uint64_t before = most->groups;
    most->groups = (most->groups + 1) / 2;
    grid.groups = grid.groups / before * most->groups;
    grid.cost = grid.cost / before * most->groups;
  }
}

/// Halves the size that costs least of the code that is executed.
Result<bool> Bench::shrink(Values& values, Grid& grid) {
  std::optional<Values> best;
  Grid best_grid;
  size_t best_covered = 0;
  for (const auto& [offset, value] : values) {
    if (value < 2) continue;
    Values changed = values;
    changed[offset] = value / 2;
    AE_TRY(ProbeResult result, corner(changed));
    if (!result.completed || !result.stored || result.collisions) continue;
    AE_TRY(Grid smaller, measure(changed, result));
    if (smaller.cost >= grid.cost) continue;
    if (best && std::pair(result.covered(), best_grid.cost) <= std::pair(best_covered, smaller.cost)) continue;
    best = std::move(changed), best_grid = smaller, best_covered = result.covered();
  }
  if (!best) return false;
  values = *std::move(best), grid = best_grid;
  return true;
}

/// All sizes together keep what fits together; where that is too much, or does nothing, one alone may do.
Result<bool> Bench::grow(Values& values, Grid& grid, unsigned axis) {
  AE_TRY(ProbeResult before, corner(values));
  std::vector<Values> candidates;
  for (int64_t factor : {4, 2}) {
    candidates.push_back(values);
    for (auto& [offset, value] : candidates.back()) value *= factor;
  }
  for (int64_t factor : {4, 16, 64, 256})
    for (const Scalar& s : found.scalars) {
      if (!values.contains(s.slot.offset) || !(s.moves || s.uses & (use_guard | use_bound))) continue;
      candidates.push_back(values);
      candidates.back()[s.slot.offset] *= factor;
    }
  for (Values& changed : candidates) {
    if (std::ranges::any_of(changed, [](const auto& v) { return v.second > largest_size; })) continue;
    AE_TRY(ProbeResult result, corner(changed));
    if (!result.completed || result.collisions > before.collisions || result.covered() < before.covered()) continue;
    AE_TRY(Count count, count_along(changed, axis));
    if (count.groups <= grid.axes[axis].groups) continue;
    AE_TRY(Grid larger, measure(changed, result));
    if (larger.cost > most_cost || larger.groups > most_groups) continue;
    values = std::move(changed), grid = larger;
    return true;
  }
  return false;
}

Result<void> Bench::fit_grid(Values& values) {
  AE_TRY(ProbeResult start, corner(values));
  AE_TRY(Grid grid, measure(values, start));
  auto affordable = [&] {
    Grid clamped = grid;
    for (Count& axis : clamped.axes)
      if (!axis.limited)
        clamped.groups = clamped.groups / axis.groups * 2, clamped.cost = clamped.cost / axis.groups * 2;
    return clamped.groups <= most_groups && clamped.cost <= most_cost;
  };
  for (int step = 0; step < most_steps && !affordable() && !prober.tired(); ++step) {
    AE_TRY(bool smaller, shrink(values, grid));
    if (!smaller) break;
  }
  for (unsigned d = 0; d < 3; ++d)
    for (int step = 0; step < 3 && found.axes[d] && grid.axes[d].limited && grid.axes[d].groups < wanted_count;
         ++step) {
      if (prober.tired()) return {};
      AE_TRY(bool larger, grow(values, grid, d));
      if (!larger) break;
    }
  return {};
}

void Bench::settle_lds(const Shape& shape) {
  found.dynamic_lds = shape.lds_bytes > fixed_lds_
                          ? std::min(free_lds_, uint32_t((shape.lds_bytes - fixed_lds_ + 255) / 256 * 256))
                          : 0;
  lds_settled_ = true;
}

// ---- the whole grid

/// All workgroups of a small grid; of a large one those at its edges and in the middle, since extents are made there.
std::vector<uint32_t> Bench::sample(const Position& grid) const {
  std::array<std::vector<uint32_t>, 3> chosen;
  const bool all = uint64_t{grid[0]} * grid[1] * grid[2] <= 64;
  for (unsigned d = 0; d < 3; ++d)
    for (uint32_t i = 0; i < grid[d]; ++i)
      if (all || i < 2 || i + 2 >= grid[d] || i == grid[d] / 2) chosen[d].push_back(i);
  std::vector<uint32_t> groups;
  for (uint32_t z : chosen[2])
    for (uint32_t y : chosen[1])
      for (uint32_t x : chosen[0]) groups.push_back(linear({x, y, z}, grid));
  return groups;
}

Result<void> Bench::look(Trial trial, Shape& shape) {
  const std::vector<uint32_t> groups = sample(shape.grid);
  const size_t batch = std::clamp<size_t>(300'000 / std::max<uint64_t>(shape.instructions, 1), 1, 64);
  for (size_t start = 0; start < groups.size(); start += batch) {
    std::vector<uint32_t> some(groups.begin() + ptrdiff_t(start),
                               groups.begin() + ptrdiff_t(std::min(start + batch, groups.size())));
    AE_TRY(ProbeResult result, prober.run(trial, std::move(some), start == 0));
    if (!result.completed) return fail("{}: kernel `{}`: {}", path_, name_, result.fault);
    shape.lds_bytes = std::max(shape.lds_bytes, result.lds_bytes);
    shape.collisions += result.collisions;
    shape.executed.resize(result.executed.size());
    for (size_t i = 0; i < result.executed.size(); ++i)
      if (result.executed[i]) shape.executed[i] = true;
    for (const auto& [id, group] : result.groups)
      for (const auto& [offset, pointer] : group.pointers) {
        shape.pointers[offset].read.add(pointer.read);
        shape.pointers[offset].written.add(pointer.written);
        shape.pointers[offset].atomic.add(pointer.atomic);
      }
    if (start > 0) continue;
    for (const auto& [offset, votes] : result.votes.elements)
      for (const auto& [type, count] : votes) votes_[offset][type] += count;
    found.indexes.insert(result.flow.indexes.begin(), result.flow.indexes.end());
    found.moved.insert(result.flow.moved.begin(), result.flow.moved.end());
  }
  return {};
}

Result<Shape> Bench::explore(const Values& values, bool define) {
  Shape shape{.values = values};
  AE_TRY(ProbeResult start, corner(values));
  if (!start.completed || !start.stored) return fail("{}: kernel `{}`: {}", path_, name_, start.fault);
  AE_TRY(Grid grid, measure(values, start));
  clamp(grid);
  shape.grid = grid.position();
  shape.instructions = start.instructions / std::max<size_t>(start.groups.size(), 1); // of a workgroup, for now
  if (define) {
    for (unsigned d = 0; d < 3; ++d)
      if (found.axes[d] && !grid.axes[d].limited) found.unlimited_axes.insert(d);
    votes_.clear();
  }
  const Trial trial = this->trial(values, shape.grid);
  AE_CHECK(look(trial, shape));
  if (define) define_types(shape);
  AE_CHECK(look_with_content(trial, shape));
  shape.instructions = grid.cost;
  return shape;
}

} // namespace asmevo::launch
