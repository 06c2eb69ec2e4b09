// Memory of the simulated device: a sparse set of byte-exact regions at addresses the caller chose.
//
// Captured pointers replay unchanged, and an access one byte outside a buffer is seen. Regions never touch: map() keeps
// whatever distance the caller leaves. Lookups in a lane loop go through a small per-wave cache of the last regions.
#pragma once

#include "machine/host_blocks.h"
#include "support/result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace asmevo::machine {

enum class Access : uint8_t { read_only, read_write, guard }; // guard: any access is a fault
enum class Initial : uint8_t { zeros, any }; // content of what is mapped; any: the caller writes it all

struct Region {
  uint64_t base = 0;
  uint64_t size = 0;
  Access access = Access::read_write;
  std::string name;
  uint8_t* data = nullptr;                    // host bytes, stable until unmapped
  uint64_t guard_before = 0, guard_after = 0; // bytes at each end that are not part of what `name` names

  uint64_t first() const { return base + guard_before; } // of what is named
  uint64_t end() const { return base + size - guard_after; }
};

class Memory {
public:
  Memory();
  ~Memory();
  Memory(Memory&&) noexcept;
  Memory& operator=(Memory&&) noexcept;

  /// Errors: overlaps a region (named), size 0, wraps.
  Result<std::span<uint8_t>> map(uint64_t base, uint64_t size, Access access, std::string name,
                                 Initial initial = Initial::zeros);
  /// Maps bytes that somebody keeps and nobody changes, read-only; the block is as large as the region.
  Result<void> map_kept(uint64_t base, uint64_t size, std::shared_ptr<const HostBlock> block, std::string name);
  /// Says that so many bytes at each end of the region at `base` are slack around what its name means: they can be
  /// accessed like the rest, but messages count from where the named bytes begin and end.
  void set_guards(uint64_t base, uint64_t before, uint64_t after);
  void unmap(uint64_t base);
  /// The region that holds all of [address, address + size), or null.
  const Region* find(uint64_t address, uint64_t size) const;
  /// "4 bytes past the end of `out`", "64 bytes before `in`", "in no buffer".
  std::string describe(uint64_t address, uint64_t size) const;
  std::span<const Region> regions() const; // by base

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace asmevo::machine
