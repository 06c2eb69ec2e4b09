#include "machine/memory.h"

#include <algorithm>
#include <map>

namespace asmevo::machine {

namespace {

// Distance beyond which an address is not said to be near a buffer.
constexpr uint64_t neighbourhood = uint64_t{16} << 20;

uint64_t end_of(const Region& region) { return region.base + region.size; }

std::string amount(uint64_t bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

} // namespace

struct Memory::Impl {
  std::vector<Region> regions;                               // by base
  std::map<uint64_t, std::shared_ptr<const HostBlock>> kept; // by base, of regions whose bytes are another's

  ~Impl() {
    for (const Region& region : regions) give_up(region);
  }
  void give_up(const Region& region) {
    if (!kept.erase(region.base)) give_back_block(region.data, region.size);
  }
  /// Where a region goes. Errors: as map().
  Result<std::vector<Region>::iterator> place_for(uint64_t base, uint64_t size, const std::string& name);
  /// The first region that begins after `address`.
  auto after(uint64_t address) const {
    return std::upper_bound(regions.begin(), regions.end(), address,
                            [](uint64_t value, const Region& region) { return value < region.base; });
  }
};

Memory::Memory() : impl_(std::make_unique<Impl>()) {}
Memory::~Memory() = default;
Memory::Memory(Memory&&) noexcept = default;
Memory& Memory::operator=(Memory&&) noexcept = default;

Result<std::vector<Region>::iterator> Memory::Impl::place_for(uint64_t base, uint64_t size, const std::string& name) {
  if (size == 0) return fail("`{}`: cannot map 0 bytes at {:#x}", name, base);
  if (base + size < base) return fail("`{}`: {} bytes at {:#x} go beyond the address space", name, size, base);
  const auto next = regions.begin() + (after(base) - regions.begin());
  const Region* neighbour = nullptr;
  if (next != regions.end() && next->base < base + size) neighbour = &*next;
  if (next != regions.begin() && end_of(next[-1]) > base) neighbour = &next[-1];
  if (neighbour)
    return fail("`{}`: {} bytes at {:#x} overlap `{}` at {:#x}", name, size, base, neighbour->name, neighbour->base);
  return next;
}

Result<std::span<uint8_t>> Memory::map(uint64_t base, uint64_t size, Access access, std::string name, Initial initial) {
  AE_TRY(const auto place, impl_->place_for(base, size, name));
  uint8_t* data = initial == Initial::any ? any_block(size) : fresh_block(size);
  if (!data) return fail("`{}`: no host memory for {} bytes", name, size);
  impl_->regions.insert(place, Region{base, size, access, std::move(name), data});
  return std::span(data, size);
}

Result<void> Memory::map_kept(uint64_t base, uint64_t size, std::shared_ptr<const HostBlock> block, std::string name) {
  AE_TRY(const auto place, impl_->place_for(base, size, name));
  impl_->regions.insert(place, Region{base, size, Access::read_only, std::move(name), block->data()});
  impl_->kept[base] = std::move(block);
  return {};
}

void Memory::set_guards(uint64_t base, uint64_t before, uint64_t after) {
  auto found = std::ranges::find(impl_->regions, base, &Region::base);
  if (found == impl_->regions.end()) return;
  found->guard_before = before;
  found->guard_after = after;
}

void Memory::unmap(uint64_t base) {
  auto next = impl_->after(base);
  if (next == impl_->regions.begin() || next[-1].base != base) return;
  impl_->give_up(next[-1]);
  impl_->regions.erase(impl_->regions.begin() + (next - impl_->regions.begin()) - 1);
}

const Region* Memory::find(uint64_t address, uint64_t size) const {
  auto next = impl_->after(address);
  if (next == impl_->regions.begin()) return nullptr;
  const Region& region = next[-1];
  uint64_t offset = address - region.base;
  return offset < region.size && size <= region.size - offset ? &region : nullptr;
}

std::string Memory::describe(uint64_t address, uint64_t size) const {
  const Region* nearest = nullptr;
  uint64_t distance = neighbourhood;
  bool after = false;
  for (const Region& region : impl_->regions) {
    if (region.access == Access::guard) continue;
    uint64_t last = address + size, first = region.first(), end = region.end();
    bool inside = address >= first && address < end;
    if (inside && last <= end) return fmt::format("{} at +{:#x} of `{}`", amount(size), address - first, region.name);
    if (inside) return fmt::format("{} past the end of `{}`", amount(last - end), region.name);
    uint64_t away = address >= end ? address - end : first - address;
    if (away >= distance) continue;
    nearest = &region, distance = away, after = address >= end;
  }
  if (!nearest) return "in no buffer";
  if (!after) return fmt::format("{} before `{}`", amount(distance), nearest->name);
  return fmt::format("{} past the end of `{}`", amount(distance + size), nearest->name);
}

std::span<const Region> Memory::regions() const { return impl_->regions; }

} // namespace asmevo::machine
