// What memory holds, and how far that leads.
//
// On empty memory every index is zero and every count is nothing. So the buffers that are read get the content that the
// launch file will give them, and the same workgroups run again: where they touch something else now, extents grow and
// are filled in turn. Random indexes rarely reach the ends of their range, and another seed reaches others; buffers of
// integers are therefore tried at both ends too, and what is touched then is what any content can touch.
#include "launch/infer/grid.h"

#include <algorithm>

namespace asmevo::launch {

namespace {

constexpr int most_rounds = 4;
constexpr uint64_t background_bytes = uint64_t{1} << 20;
constexpr uint64_t largest_content = uint64_t{48} << 20;
constexpr double limits[] = {255, 7, 1, 0}; // of indexes, until nothing faults

Range range_for(DType type) {
  switch (type) {
  case DType::u8:
    return {0, 255};
  case DType::i8:
    return {-128, 127};
  case DType::u16:
  case DType::i16:
    return {0, 255};
  default:
    return {0, 7};
  }
}

bool reads(const PointerUse& use) { return !use.read.empty(); }

Role role_of(const PointerUse& use) {
  if (use.written.empty()) return Role::in;
  return use.read.overlaps(use.written) ? Role::inout : Role::out;
}

} // namespace

Layout layout_of(const Found& found, const Slot& pointer, const PointerUse& use) {
  const int64_t low = std::min({int64_t{0}, use.read.low(), use.written.low()});
  const int64_t high = std::max({int64_t{1}, use.read.high(), use.written.high()});
  Layout layout{.before = uint64_t(-low + 255) / 256 * 256};
  Buffer& b = layout.buffer;
  b.name = pointer.name;
  b.dtype = found.types.contains(pointer.offset) ? found.types.at(pointer.offset) : DType::u8;
  b.shape = {(layout.before + uint64_t(high) + size_of(b.dtype) - 1) / size_of(b.dtype)};
  b.role = role_of(use);
  if (b.role == Role::out)
    b.fill = {.kind = FillKind::poison};
  else if (auto range = found.ranges.find(pointer.offset); range != found.ranges.end())
    b.fill = {.kind = FillKind::integers, .a = range->second.low, .b = range->second.high};
  else
    b.fill = {.kind = FillKind::normal, .a = 0, .b = 1};
  return layout;
}

void Bench::define_types(const Shape& shape) {
  double bound = 0; // indexes into something as large as the smallest size are in it
  for (const auto& [offset, value] : shape.values)
    if (value > 1) bound = bound == 0 ? double(value) - 1 : std::min(bound, double(value) - 1);
  for (const auto& [offset, use] : shape.pointers) {
    if (found.types.contains(offset)) continue;
    std::optional<DType> type;
    if (auto votes = votes_.find(offset); votes != votes_.end()) type = winner(votes->second);
    if (!type && !found.moved.contains(offset)) found.unknown_types.insert(offset);
    found.types[offset] = type.value_or(DType::u8);
    if (is_floating(found.types[offset])) continue;
    Range range = range_for(found.types[offset]);
    if (found.indexes.contains(offset) && size_of(found.types[offset]) >= 4) range = {0, std::max(bound, 1.0)};
    found.ranges[offset] = range;
  }
}

std::map<uint32_t, Trial::Content> Bench::backgrounds() const {
  Buffer b{.dtype = DType::f32, .shape = {background_bytes / 4}, .fill = {.kind = FillKind::normal, .a = 0, .b = 1}};
  if (found.background == Background::integers) {
    b.dtype = DType::u32;
    b.fill = {.kind = FillKind::integers, .a = 0, .b = 7};
  }
  std::map<uint32_t, Trial::Content> all;
  for (const Slot& pointer : found.pointers) {
    b.name = pointer.name;
    if (auto bytes = initial_bytes(Case{}, b, 0)) all[pointer.offset].bytes = *std::move(bytes);
  }
  return all;
}

/// Content of what is read: as the launch file will say, or integers at one end of their range.
std::map<uint32_t, Trial::Content> Bench::contents(const Shape& shape, std::optional<bool> high) const {
  std::map<uint32_t, Trial::Content> all;
  for (const Slot& pointer : found.pointers) {
    auto use = shape.pointers.find(pointer.offset);
    if (use == shape.pointers.end() || !reads(use->second)) continue;
    Layout layout = layout_of(found, pointer, use->second);
    Buffer& b = layout.buffer;
    if (b.bytes() > largest_content || b.role == Role::out) continue;
    if (high && b.fill.kind == FillKind::integers) b.fill.a = b.fill.b = *high ? b.fill.b : b.fill.a;
    auto bytes = initial_bytes(Case{}, b, 0);
    if (bytes) all[pointer.offset] = {-int64_t(layout.before), *std::move(bytes)};
  }
  return all;
}

Result<void> Bench::look_with_content(const Trial& empty, Shape& shape) {
  const Shape before = shape;
  Result<void> seen;
  for (double limit : limits) {
    seen = {};
    shape = before;
    for (int round = 0; round < most_rounds && seen; ++round) {
      const auto known = shape.pointers;
      Trial trial = empty;
      trial.contents = contents(shape, std::nullopt);
      seen = look(trial, shape);
      define_types(shape); // of pointers that loaded content led to
      if (known == shape.pointers) break;
      found.depends_on_data = true;
    }
    if (seen && found.depends_on_data) seen = look_at_extremes(empty, shape);
    if (seen) return {};
    for (uint32_t offset : found.indexes)
      if (auto range = found.ranges.find(offset); range != found.ranges.end())
        range->second = {std::max(range->second.low, 0.0), std::min(range->second.high, limit)};
  }
  return seen;
}

Result<void> Bench::look_at_extremes(const Trial& empty, Shape& shape) {
  for (bool high : {true, false}) {
    Trial trial = empty;
    trial.contents = contents(shape, high);
    AE_CHECK(look(trial, shape));
  }
  return {};
}

} // namespace asmevo::launch
