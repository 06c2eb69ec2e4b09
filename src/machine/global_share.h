// The global data share and global wave synchronisation: what all workgroups of a dispatch have in common besides
// memory. Workgroups that use it take turns on one thread.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

namespace asmevo::machine {

/// A GWS resource. A wave that must wait at a barrier keeps the flag it found; the barrier opens by changing it.
struct SyncResource {
  uint32_t counter = 0;
  uint32_t waiting = 0;
  bool flag = false;
};

struct GlobalShare {
  std::array<uint8_t, 4096 + 8> data{}; // room behind for accesses whose first byte alone is checked
  static constexpr uint32_t size = 4096;
  std::array<SyncResource, 64> resources{};
  std::unordered_map<uint64_t, bool> waiting; // by wave: the flag it found, or that it waits for a semaphore
};

} // namespace asmevo::machine
