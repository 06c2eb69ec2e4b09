#include "device/placement.h"

#include <algorithm>
#include <cstring>

namespace asmevo::device {

namespace {

// 47-bit user addresses, as a Linux process gives them to the GPU.
constexpr uint64_t first_buffer = 0x7f00'0000'0000;
constexpr uint64_t first_image = 0x7e00'0000'0000;
constexpr uint64_t first_runtime = 0x7d00'0000'0000; // kernarg segment, dispatch packet, queue
constexpr uint64_t placement_stride = 0x10'1000'0000;
constexpr uint64_t page = 4096;
constexpr uint64_t distance = uint64_t{4} << 30; // between neighbours: beyond what a 32-bit offset reaches
constexpr uint64_t alignment = 256;

uint64_t align_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

struct Guard {
  std::string_view side;
  std::span<uint8_t> bytes;
  uint64_t start; // in the poison pattern
};

std::array<Guard, 2> guards_of(machine::Memory& memory, const PlacedBuffer& placed) {
  uint8_t* before = memory.find(placed.region_base(), placed.region_size())->data;
  uint8_t* after = before + placed.guard_before + placed.buffer->bytes();
  return {Guard{"before", {before, placed.guard_before}, 0}, Guard{"after", {after, placed.guard_after}, guard_bytes}};
}

/// "4 bytes changed at +0", where offsets count from the buffer's edge: -1 is the byte before the buffer.
std::string changes(const Guard& guard, std::span<const uint8_t> expected) {
  size_t count = 0, first = 0, last = 0;
  for (size_t i = 0; i < guard.bytes.size(); ++i)
    if (guard.bytes[i] != expected[i]) {
      if (!count) first = i;
      last = i;
      ++count;
    }
  if (!count) return {};
  bool before = guard.side == "before";
  auto offset = [&](size_t i) { return before ? int64_t(i) - int64_t(guard.bytes.size()) : int64_t(i); };
  // Stores rarely leave gaps; where one does, the last byte shows the extent.
  std::string extent = last - first + 1 == count ? "" : fmt::format(" to {:+}", offset(last));
  return fmt::format("{} byte{} changed at {:+}{}", count, count == 1 ? "" : "s", offset(first), extent);
}

/// Captured buffers where they lay, with what fits between them as guards.
void place_captured(std::vector<PlacedBuffer>& buffers) {
  std::vector<PlacedBuffer*> order;
  for (PlacedBuffer& placed : buffers) {
    placed.address = *placed.buffer->address;
    placed.guard_before = std::min(guard_bytes, placed.address);
    order.push_back(&placed);
  }
  std::ranges::sort(order, {}, &PlacedBuffer::address);
  for (size_t i = 1; i < order.size(); ++i) {
    uint64_t gap = order[i]->address - order[i - 1]->end();
    order[i - 1]->guard_after = std::min(guard_bytes, gap / 2);
    order[i]->guard_before = std::min(guard_bytes, gap / 2);
  }
}

void place_freely(std::vector<PlacedBuffer>& buffers, unsigned placement) {
  uint64_t next = first_buffer + placement_stride * (placement % 8);
  for (size_t i = 0; i < buffers.size(); ++i) {
    PlacedBuffer& placed = buffers[placement % 2 ? buffers.size() - 1 - i : i];
    placed.address = next + guard_bytes + (placement ? alignment * (1 + (i * 7 + placement * 3) % 15) : 0);
    next = align_up(placed.end() + guard_bytes + distance, page);
  }
}

/// `base`, or the next place 1 TiB further on that has no buffer within 64 GiB.
uint64_t clear_of(const std::vector<PlacedBuffer>& buffers, uint64_t base) {
  constexpr uint64_t room = uint64_t{64} << 30, step = uint64_t{1} << 40;
  auto taken = [&](uint64_t at) {
    return std::ranges::any_of(
        buffers, [&](const PlacedBuffer& p) { return p.region_base() < at + room && p.end() + guard_bytes > at; });
  };
  while (taken(base) && base > step) base -= step;
  return base;
}

} // namespace

std::map<std::string, uint64_t> Placement::addresses() const {
  std::map<std::string, uint64_t> addresses;
  for (const PlacedBuffer& placed : buffers) addresses[placed.buffer->name] = placed.address;
  return addresses;
}

Placement place(const launch::Case& c, unsigned placement) {
  Placement result;
  for (const launch::Buffer& buffer : c.buffers) result.buffers.push_back({.buffer = &buffer});
  if (c.is_fixed())
    place_captured(result.buffers);
  else
    place_freely(result.buffers, placement);
  uint64_t shift = placement_stride * (placement % 8);
  uint64_t runtime = clear_of(result.buffers, first_runtime) + shift;
  result.image_base = clear_of(result.buffers, first_image) + shift;
  result.kernarg_address = runtime + (placement % 8) * 64;
  result.packet_address = runtime + (uint64_t{1} << 24);
  result.queue_address = runtime + (uint64_t{2} << 24);
  return result;
}

std::span<uint8_t> contents(machine::Memory& memory, const PlacedBuffer& placed) {
  const machine::Region* region = memory.find(placed.address, placed.buffer->bytes());
  return {region->data + (placed.address - region->base), placed.buffer->bytes()};
}

namespace {

/// Whether the buffer is one that is kept.
Result<bool> map_kept(machine::Memory& memory, const launch::Case& c, const PlacedBuffer& placed, KeptInputs& inputs,
                      uint64_t poison_seed) {
  AE_TRY(auto block, inputs.region(c, *placed.buffer, poison_seed, placed.guard_before, placed.guard_after));
  if (!block) return false;
  memory.unmap(placed.region_base());
  AE_CHECK(memory.map_kept(placed.region_base(), placed.region_size(), std::move(block), placed.buffer->name));
  memory.set_guards(placed.region_base(), placed.guard_before, placed.guard_after);
  return true;
}

} // namespace

Result<void> map_buffers(machine::Memory& memory, const launch::Case& c, const Placement& placement, KeptInputs& inputs,
                         uint64_t poison_seed) {
  std::map<std::string, uint64_t> addresses = placement.addresses();
  for (const PlacedBuffer& placed : placement.buffers) {
    AE_TRY(const bool kept, map_kept(memory, c, placed, inputs, poison_seed));
    if (kept) continue;
    const launch::Buffer& buffer = *placed.buffer;
    auto access = buffer.role == launch::Role::in ? machine::Access::read_only : machine::Access::read_write;
    AE_TRY(const auto region,
           memory.map(placed.region_base(), placed.region_size(), access, buffer.name, machine::Initial::any));
    memory.set_guards(placed.region_base(), placed.guard_before, placed.guard_after);
    AE_CHECK(inputs.fill(c, buffer, poison_seed, contents(memory, placed)));
    launch::fill_pointers(buffer, addresses, contents(memory, placed));
    fill_guards(buffer, poison_seed, region, placed.guard_before, placed.guard_after);
  }
  return {};
}

Result<void> refill_inputs(machine::Memory& memory, const launch::Case& c, const Placement& placement,
                           KeptInputs& inputs, uint64_t poison_seed) {
  std::map<std::string, uint64_t> addresses = placement.addresses();
  for (const PlacedBuffer& placed : placement.buffers) {
    launch::Role role = placed.buffer->role;
    if (role != launch::Role::in && role != launch::Role::inout) continue;
    AE_TRY(const bool kept, map_kept(memory, c, placed, inputs, poison_seed));
    if (kept) continue;
    AE_CHECK(inputs.fill(c, *placed.buffer, poison_seed, contents(memory, placed)));
    launch::fill_pointers(*placed.buffer, addresses, contents(memory, placed));
  }
  return {};
}

std::vector<std::string> guard_damage(machine::Memory& memory, const Placement& placement, uint64_t poison_seed) {
  std::vector<std::string> damage;
  for (const PlacedBuffer& placed : placement.buffers)
    for (const Guard& guard : guards_of(memory, placed)) {
      Bytes expected(guard.bytes.size());
      launch::fill_poison(poison_seed, guard_name(*placed.buffer), guard.start, expected);
      if (std::string what = changes(guard, expected); !what.empty())
        damage.push_back(fmt::format("guard {} `{}`: {}", guard.side, placed.buffer->name, what));
    }
  return damage;
}

} // namespace asmevo::device
