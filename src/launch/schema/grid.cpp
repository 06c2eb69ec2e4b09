// Workgroups, work-items and LDS of a case.
#include "launch/schema/case_builder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace asmevo::launch {

Result<void> CaseBuilder::grid(const JsonView& object) {
  if (object.has("workgroups")) {
    AE_TRY(result.workgroups, extent(object.at("workgroups"), "\"workgroups\"", 0x7fffffff));
    result.work_items = {0, 0, 0};
    result.where_workgroups = object.at("workgroups").where();
  }
  if (object.has("work_items")) AE_CHECK(work_items(object.at("work_items")));
  if (object.has("workgroup_size")) {
    AE_TRY(result.workgroup_size, extent(object.at("workgroup_size"), "\"workgroup_size\"", 1024));
    result.where_workgroup_size = object.at("workgroup_size").where();
  }
  if (object.has("dynamic_lds")) {
    JsonView view = object.at("dynamic_lds");
    AE_TRY(uint64_t bytes, bounded_in(view, sizes_, "\"dynamic_lds\"", 0, 1 << 20));
    result.dynamic_lds = uint32_t(bytes);
    result.where_dynamic_lds = view.where();
  }
  return {};
}

Result<void> CaseBuilder::work_items(const JsonView& view) {
  AE_TRY(auto items, extent(view, "\"work_items\"", 0xffffffff));
  std::ranges::copy(items, result.work_items.begin());
  result.where_workgroups = view.where();
  return {};
}

Result<std::array<uint32_t, 3>> CaseBuilder::extent(const JsonView& view, std::string_view what, uint64_t most) {
  std::array<uint32_t, 3> extent{1, 1, 1};
  if (!view.is_array()) {
    AE_TRY(uint64_t x, bounded_in(view, sizes_, what, 1, most));
    extent[0] = uint32_t(x);
    return extent;
  }
  if (view.size() < 1 || view.size() > 3) return view.fail("{} must have 1 to 3 numbers, not {}", what, view.size());
  for (size_t i = 0; i < view.size(); ++i) {
    AE_TRY(uint64_t n, bounded_in(view.at(i), sizes_, what, 1, most));
    extent[i] = uint32_t(n);
  }
  return extent;
}

Result<void> CaseBuilder::check_grid() {
  for (size_t i = 0; i < 3 && result.work_items[0] > 0; ++i)
    result.workgroups[i] = uint32_t((result.work_items[i] + result.workgroup_size[i] - 1) / result.workgroup_size[i]);
  auto product = [](const std::array<uint32_t, 3>& e) { return double(e[0]) * e[1] * e[2]; };
  if (product(result.workgroup_size) > 1024)
    return asmevo::fail("{}: a workgroup of {} work-items, the hardware takes 1024", result.where_workgroup_size,
                        product(result.workgroup_size));
  if (product(result.workgroups) > double(0x7fffffff))
    return asmevo::fail("{}: {} workgroups, at most 2147483647 can be dispatched", result.where_workgroups,
                        product(result.workgroups));
  for (size_t i = 0; i < 3; ++i)
    if (uint64_t{result.workgroups[i]} * result.workgroup_size[i] > 0xffffffff)
      return asmevo::fail("{}: a grid of {} * {} work-items does not fit 32 bits", result.where_workgroups,
                          result.workgroups[i], result.workgroup_size[i]);
  return {};
}

} // namespace asmevo::launch
