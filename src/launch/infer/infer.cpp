#include "launch/infer.h"

#include "launch/infer/probe.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace asmevo::launch {

namespace {

constexpr uint32_t unlimited = 1024;  // workgroups along one axis that all store: no guard ends the grid
constexpr uint32_t default_count = 8; // of workgroups along such an axis
constexpr uint64_t largest_total = uint64_t{1} << 30; // bytes of all buffers
constexpr uint32_t most_workgroups = 65536, batch = 64;

using Position = std::array<uint32_t, 3>;

uint32_t linear(const Position& p, const Position& grid) { return p[0] + grid[0] * (p[1] + grid[1] * p[2]); }

Bytes little_endian(uint64_t value, uint32_t size) {
  Bytes bytes(size, 0);
  for (uint32_t i = 0; i < std::min(size, 8u); ++i) bytes[i] = uint8_t(value >> 8 * i);
  return bytes;
}

/// What was found out about one set of scalar values.
struct Shape {
  int64_t size = 0; // of all size scalars
  Position grid{1, 1, 1};
  std::map<uint32_t, PointerUse> pointers; // by kernarg offset, over the whole grid
  uint64_t lds_bytes = 0;
};

class Inferrer {
public:
  Inferrer(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop)
      : kernel_(kernel), path_(image.object().path), prober_(image, kernel, stop) {
    uint32_t rsrc2 = kernel.descriptor.compute_pgm_rsrc2();
    for (unsigned d = 0; d < 3; ++d) axis_used_[d] = rsrc2 >> (7 + d) & 1;
    item_axes_ = std::min(rsrc2 >> 11 & 3, 2u) + 1;
    fixed_lds_ = kernel.descriptor.group_segment_fixed_size();
    auto target = image.target();
    free_lds_ = isa::lds_size(target.processor) - std::min(isa::lds_size(target.processor), fixed_lds_);
  }

  Result<Inference> run() {
    if (!kernel_.metadata || (prober_.pointers().empty() && prober_.scalars().empty()))
      return fail("{}: kernel `{}` has no arguments in its metadata; write a launch file (docs/launch-format.md)",
                  path_, kernel_.name);
    if (prober_.pointers().empty())
      return fail("{}: kernel `{}` takes no pointer, it can have no result", path_, kernel_.name);
    AE_CHECK(choose_workgroup_and_size());
    AE_CHECK(classify_scalars());
    AE_TRY(Shape main, explore(size_));
    AE_CHECK(find_types(main));
    std::vector<Shape> shapes{std::move(main)};
    for (int64_t size : {size_ - size_ / 4 - 3, size_ - 48, int64_t{17}}) {
      if (size_scalars_.empty()) break;
      auto tail = explore(size);
      if (tail && !tail->pointers.empty()) shapes.push_back(std::move(*tail));
    }
    return compose(shapes);
  }

private:
  // ---- trials

  Trial trial(int64_t size, const Position& grid) const {
    Trial t{.workgroups = grid,
            .workgroup_size = workgroup_,
            .dynamic_lds = free_lds_ > 0 && !lds_known_ ? free_lds_ : dynamic_lds_};
    for (const object::KernelArgument& a : prober_.scalars()) {
      bool is_size = size_scalars_.contains(a.offset) || !classified_;
      uint64_t value = is_size ? uint64_t(size) : factor_bits(a);
      t.scalars[a.offset] = little_endian(a.size <= 8 ? value : 0, a.size);
    }
    return t;
  }

  /// A scalar that moves nothing: one half, if it is a number that is computed with, and else 1.
  uint64_t factor_bits(const object::KernelArgument& a) const {
    DType type = factor_type(a);
    return bits_of(type, is_floating(type) ? 0.5 : 1);
  }

  DType factor_type(const object::KernelArgument& a) const {
    auto votes = types_.find(a.offset);
    std::optional<DType> type = votes == types_.end() ? std::nullopt : winner(votes->second);
    if (type && size_of(*type) == a.size) return *type;
    return a.size == 4 ? DType::f32 : a.size == 8 ? DType::f64 : a.size == 2 ? DType::f16 : DType::u8;
  }

  Result<ProbeResult> probe(const Trial& t, const std::vector<Position>& positions) {
    std::vector<uint32_t> ids;
    for (const Position& p : positions) ids.push_back(linear(p, t.workgroups));
    return prober_.run(t, std::move(ids));
  }

  /// The corner workgroup and its neighbours along the axes that the kernel looks at.
  std::vector<Position> corner() const {
    std::vector<Position> positions{{0, 0, 0}};
    for (unsigned d = 0; d < 3; ++d)
      if (axis_used_[d]) {
        Position p{0, 0, 0};
        p[d] = 1;
        positions.push_back(p);
      }
    return positions;
  }

  Position corner_grid() const {
    Position grid{1, 1, 1};
    for (unsigned d = 0; d < 3; ++d)
      if (axis_used_[d]) grid[d] = 2;
    return grid;
  }

  // ---- workgroup size and the common size

  std::vector<Position> workgroup_candidates() const {
    if (const auto& wanted = kernel_.metadata->reqd_workgroup_size) return {*wanted};
    uint32_t most = kernel_.metadata->max_flat_workgroup_size;
    uint32_t items = most == 0 || most > 256 ? 256 : most;
    if (item_axes_ == 1) return {{items, 1, 1}};
    std::vector<Position> shapes;
    for (uint32_t x : {16u, 64u, 32u, 8u, 128u})
      if (items % x == 0) shapes.push_back({x, items / x, 1});
    if (item_axes_ == 3 && items % 64 == 0) shapes.push_back({8, 8, items / 64});
    return shapes;
  }

  static uint64_t stored_bytes(const ProbeResult& result) {
    std::map<uint32_t, Extent> all;
    for (const auto& [id, group] : result.groups)
      for (const auto& [offset, pointer] : group.pointers) all[offset].add(pointer.written);
    uint64_t sum = 0;
    for (const auto& [offset, extent] : all) sum += extent.bytes();
    return sum;
  }

  /// The workgroup shape and the size with which the corner of the grid stores most; a larger size only where it pays.
  Result<void> choose_workgroup_and_size() {
    uint64_t best = 0;
    std::string fault;
    for (int64_t size : {256, 1024, 64, 4096, 16, 1}) {
      if (best > 0 && size != 1024) break;
      for (const Position& shape : workgroup_candidates()) {
        Position before = std::exchange(workgroup_, shape);
        AE_TRY(ProbeResult result, probe(trial(size, corner_grid()), corner()));
        uint64_t stored = result.completed ? stored_bytes(result) : 0;
        if (!result.completed) fault = result.fault;
        if (stored > best) {
          best = stored;
          size_ = size;
          lds_bytes_ = result.lds_bytes;
          types_ = result.types;
        } else {
          workgroup_ = before;
        }
      }
    }
    if (best == 0 && !fault.empty())
      return fail("{}: kernel `{}` faults on every launch that was tried: {}", path_, kernel_.name, fault);
    if (best == 0) return fail("{}: kernel `{}` stores nothing on any launch that was tried", path_, kernel_.name);
    dynamic_lds_ = lds_bytes_ > fixed_lds_ ? uint32_t((lds_bytes_ - fixed_lds_ + 255) / 256 * 256) : 0;
    lds_known_ = true;
    return {};
  }

  // ---- scalars

  Result<void> classify_scalars() {
    AE_TRY(ProbeResult base, probe(trial(size_, corner_grid()), corner()));
    for (const object::KernelArgument& a : prober_.scalars()) {
      if (a.size > 8) continue;
      for (int64_t value : {int64_t{1}, size_ / 2, size_ * 2}) {
        Trial changed = trial(size_, corner_grid());
        changed.scalars[a.offset] = little_endian(uint64_t(value), a.size);
        AE_TRY(ProbeResult result, probe(changed, corner()));
        if (result.completed == base.completed && result.groups == base.groups) continue;
        size_scalars_.insert(a.offset);
        break;
      }
    }
    classified_ = true;
    return {};
  }

  // ---- grid and extents

  bool overlaps(const GroupUse& a, const GroupUse& b) const {
    return std::ranges::any_of(a.pointers, [&](const auto& entry) {
      auto other = b.pointers.find(entry.first);
      bool atomic = !entry.second.atomic.empty();
      return other != b.pointers.end() && !atomic && entry.second.written.overlaps(other->second.written);
    });
  }

  Result<GroupUse> group_at(int64_t size, unsigned axis, uint32_t n) {
    Position grid = corner_grid(), p{0, 0, 0};
    grid[axis] = n + 1;
    p[axis] = n;
    AE_TRY(ProbeResult result, probe(trial(size, grid), {p}));
    if (!result.completed) return GroupUse{};
    return result.groups.begin()->second;
  }

  /// Workgroups along an axis until they store nothing, or begin to store over the first ones.
  Result<uint32_t> count_along(int64_t size, unsigned axis) {
    uint32_t working = 0, idle = 0;
    for (uint32_t n = 1; n <= unlimited && idle == 0; n *= 2) {
      AE_TRY(GroupUse use, group_at(size, axis, n));
      (use.stores() ? working : idle) = n;
    }
    if (idle == 0) return count_until_overlap(size, axis);
    while (idle - working > 1) {
      uint32_t middle = working + (idle - working) / 2;
      AE_TRY(GroupUse use, group_at(size, axis, middle));
      (use.stores() ? working : idle) = middle;
    }
    return idle;
  }

  Result<uint32_t> count_until_overlap(int64_t size, unsigned axis) {
    AE_TRY(ProbeResult first, probe(trial(size, corner_grid()), corner()));
    for (uint32_t n = 1; n < 2 * default_count; ++n) {
      AE_TRY(GroupUse use, group_at(size, axis, n));
      Position own{0, 0, 0};
      own[axis] = 1;
      for (const auto& [id, group] : first.groups)
        if ((n > 1 || id != linear(own, corner_grid())) && overlaps(use, group)) return n;
    }
    unlimited_axes_.insert(axis);
    return default_count;
  }

  Result<Shape> explore(int64_t size) {
    Shape shape{.size = size};
    for (unsigned d = 0; d < 3; ++d)
      if (axis_used_[d]) {
        AE_TRY(shape.grid[d], count_along(size, d));
      }
    uint64_t count = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
    if (count > most_workgroups) return fail("{}: a grid of {} workgroups is too large to try", path_, count);
    for (uint32_t start = 0; start < count; start += batch) {
      std::vector<uint32_t> ids;
      for (uint32_t id = start; id < std::min<uint64_t>(count, start + batch); ++id) ids.push_back(id);
      AE_TRY(ProbeResult result, prober_.run(trial(size, shape.grid), std::move(ids)));
      if (!result.completed) return fail("{}: kernel `{}` with size {}: {}", path_, kernel_.name, size, result.fault);
      shape.lds_bytes = std::max(shape.lds_bytes, result.lds_bytes);
      for (const auto& [id, group] : result.groups)
        for (const auto& [offset, pointer] : group.pointers) {
          shape.pointers[offset].read.add(pointer.read);
          shape.pointers[offset].written.add(pointer.written);
        }
      if (start == 0) types_ = result.types;
    }
    return shape;
  }

  // ---- roles and types

  Result<void> find_types(const Shape& main) {
    uint64_t total = 0;
    for (const auto& [offset, use] : main.pointers) {
      std::optional<DType> type;
      if (auto votes = types_.find(offset); votes != types_.end()) type = winner(votes->second);
      dtype_[offset] = type.value_or(DType::u8);
      if (!type) unknown_types_.insert(offset);
      total += uint64_t(std::max(use.read.high(), use.written.high()) - std::min(use.read.low(), use.written.low()));
    }
    if (total > largest_total)
      return fail("{}: kernel `{}` touches {} bytes with sizes of {}", path_, kernel_.name, total, size_);
    return {};
  }

  static Role role_of(const PointerUse& use) {
    if (use.written.empty()) return Role::in;
    return use.read.overlaps(use.written) ? Role::inout : Role::out;
  }

  struct Layout {
    uint64_t offset = 0; // of the pointer in the buffer
    uint64_t elements = 0;
  };
  Layout layout(const PointerUse& use, uint32_t argument) const {
    int64_t low = std::min({int64_t{0}, use.read.low(), use.written.low()}),
            high = std::max(use.read.high(), use.written.high());
    uint64_t before = uint64_t(-low + 255) / 256 * 256, size = size_of(dtype_.at(argument));
    return {before, (before + uint64_t(std::max<int64_t>(high, 1)) + size - 1) / size};
  }

  // ---- the launch file

  using Json = nlohmann::ordered_json;

  Json buffer_json(uint32_t argument, const PointerUse& use) const {
    DType type = dtype_.at(argument);
    Json json = {{"dtype", std::string(name_of(type))},
                 {"shape", layout(use, argument).elements},
                 {"role", std::string(name_of(role_of(use)))}};
    if (!is_floating(type) && role_of(use) != Role::out) json["fill"] = {{"integers", {0, 7}}};
    return json;
  }

  Json arguments_json(const Shape& main) const {
    std::vector<object::KernelArgument> all = prober_.pointers();
    all.insert(all.end(), prober_.scalars().begin(), prober_.scalars().end());
    std::ranges::sort(all, {}, &object::KernelArgument::offset);
    Json list = Json::array();
    for (const object::KernelArgument& a : all) list.push_back(argument_json(a, main));
    return list;
  }

  Json argument_json(const object::KernelArgument& a, const Shape& main) const {
    Json json;
    bool pointer = std::ranges::any_of(prober_.pointers(), [&](const auto& p) { return p.offset == a.offset; });
    auto use = main.pointers.find(a.offset);
    if (pointer && use == main.pointers.end())
      json["null"] = true;
    else if (pointer)
      json["buffer"] = prober_.name_of(a);
    else if (size_scalars_.contains(a.offset))
      json[fmt::format("u{}", a.size * 8)] = "size";
    else if (a.size > 8)
      json["bytes"] = std::string(a.size * 2, '0');
    else {
      DType type = factor_type(a);
      json[std::string(name_of(type))] = is_floating(type) ? Json(0.5) : Json(1);
    }
    if (pointer && use != main.pointers.end() && layout(use->second, a.offset).offset)
      json["buffer_offset"] = layout(use->second, a.offset).offset;
    if (!json.contains("buffer")) json["name"] = prober_.name_of(a);
    json["offset"] = a.offset;
    return json;
  }

  Inference compose(const std::vector<Shape>& shapes) {
    const Shape& main = shapes[0];
    Json launch = {{"kernel", kernel_.name}};
    if (!size_scalars_.empty()) launch["sizes"] = {{"size", main.size}};
    launch["workgroups"] = main.grid;
    launch["workgroup_size"] = workgroup_;
    if (dynamic_lds_) launch["dynamic_lds"] = dynamic_lds_;
    launch["buffers"] = Json::object();
    for (const object::KernelArgument& p : prober_.pointers())
      if (auto use = main.pointers.find(p.offset); use != main.pointers.end())
        launch["buffers"][prober_.name_of(p)] = buffer_json(p.offset, use->second);
    launch["arguments"] = arguments_json(main);
    launch["cases"] = Json::array();
    for (const Shape& shape : shapes) launch["cases"].push_back(case_json(shape, main));
    return {launch.dump(2) + "\n", assumptions(main), confidence(main)};
  }

  Json case_json(const Shape& shape, const Shape& main) const {
    Json json = {{"name", fmt::format("size {}", shape.size)}};
    if (&shape == &main) return json;
    json["sizes"] = {{"size", shape.size}};
    json["workgroups"] = shape.grid;
    for (const object::KernelArgument& p : prober_.pointers()) {
      auto use = shape.pointers.find(p.offset), in_main = main.pointers.find(p.offset);
      if (in_main == main.pointers.end()) continue;
      uint64_t elements = use == shape.pointers.end() ? 1 : layout(use->second, p.offset).elements;
      json["buffers"][prober_.name_of(p)] = {
          {"shape", std::max(elements, layout(in_main->second, p.offset).offset / size_of(dtype_.at(p.offset)) + 1)}};
    }
    return json;
  }

  // ---- what was assumed

  std::vector<std::string> assumptions(const Shape& main) const {
    std::vector<std::string> list;
    list.push_back(fmt::format("workgroups of {} work-items: {}", fmt::join(workgroup_, " x "),
                               kernel_.metadata->reqd_workgroup_size ? "the kernel requires it"
                               : item_axes_ > 1 ? "of the shapes tried, this one stores most without gaps"
                                                : "the most that the kernel was compiled for, up to 256"));
    for (const object::KernelArgument& p : prober_.pointers()) {
      auto use = main.pointers.find(p.offset);
      if (use == main.pointers.end()) {
        list.push_back(fmt::format("{}: never used, null", prober_.name_of(p)));
        continue;
      }
      list.push_back(
          fmt::format("{}: {} {}, {} bytes read and {} written", prober_.name_of(p), name_of(role_of(use->second)),
                      unknown_types_.contains(p.offset) ? "of unknown type (bytes)" : name_of(dtype_.at(p.offset)),
                      use->second.read.bytes(), use->second.written.bytes()));
    }
    for (const object::KernelArgument& a : prober_.scalars())
      list.push_back(
          size_scalars_.contains(a.offset)
              ? fmt::format("{}: a size (addresses, loops or guards follow it), {}", prober_.name_of(a), main.size)
          : a.size > 8 ? fmt::format("{}: {} bytes by value, zeros", prober_.name_of(a), a.size)
                       : fmt::format("{}: no size (nothing moves with it), {} {}", prober_.name_of(a),
                                     name_of(factor_type(a)), is_floating(factor_type(a)) ? "0.5" : "1"));
    for (unsigned d = 0; d < 3; ++d)
      if (axis_used_[d])
        list.push_back(fmt::format("{} workgroups in {}: {}", main.grid[d], "xyz"[d],
                                   unlimited_axes_.contains(d) ? "nothing limits them"
                                                               : "more would store nothing or over the others"));
    if (dynamic_lds_) list.push_back(fmt::format("{} bytes of dynamic LDS: the highest access", dynamic_lds_));
    return list;
  }

  std::string confidence(const Shape& main) const {
    bool structs = std::ranges::any_of(prober_.scalars(), [](const auto& a) { return a.size > 8; });
    bool output = std::ranges::any_of(main.pointers, [](const auto& entry) { return !entry.second.written.empty(); });
    if (structs || !output || unknown_types_.size() * 2 > main.pointers.size()) return "low";
    return unknown_types_.empty() && unlimited_axes_.size() <= 1 ? "high" : "medium";
  }

  const object::Kernel& kernel_;
  std::string path_;
  Prober prober_;
  std::array<bool, 3> axis_used_{};
  uint32_t item_axes_ = 1, fixed_lds_ = 0, free_lds_ = 0, dynamic_lds_ = 0;
  bool lds_known_ = false, classified_ = false;
  uint64_t lds_bytes_ = 0;
  Position workgroup_{64, 1, 1};
  int64_t size_ = 256;
  std::set<uint32_t> size_scalars_, unknown_types_;
  std::set<unsigned> unlimited_axes_;
  std::map<uint32_t, TypeVotes> types_;
  std::map<uint32_t, DType> dtype_;
};

} // namespace

Result<Inference> infer_launch(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop) {
  return Inferrer(image, kernel, stop).run();
}

} // namespace asmevo::launch
