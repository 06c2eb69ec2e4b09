// From a device address to host bytes, for memory instructions.
#pragma once

#include "machine/workgroup.h"

namespace asmevo::machine {

/// Refills `view` with the region that holds [address, address + bytes), if that region allows the access.
[[gnu::noinline]] bool refill(Wave& w, RegionView& view, uint64_t address, uint32_t bytes, bool write);

/// Tells the log of the workgroup about an access.
[[gnu::noinline, gnu::cold]] void note_access(Wave& w, uint64_t address, uint32_t bytes, bool write);
/// Likewise for the lanes of `mask` at the host addresses `at`, which lie in `view`.
[[gnu::noinline, gnu::cold]] void note_lanes(Wave& w, const RegionView& view, uint8_t* const at[lanes], uint64_t mask,
                                             uint32_t bytes, bool write);

AE_LANES RegionView& view_of(Wave& w, const Op& op) { return w.views[op.index % 16]; }

/// Whether the view holds all of the access and allows it.
AE_LANES bool covers(const RegionView& view, uint64_t address, uint32_t bytes, bool write) {
  const uint64_t offset = address - view.base;
  return offset < view.size && view.size - offset >= bytes && (!write || view.writable);
}

/// Host bytes of an access, or null after raising a fault.
AE_LANES uint8_t* reach(Wave& w, const Op& op, int lane, uint64_t address, uint32_t bytes, bool write) {
  RegionView& view = view_of(w, op);
  if (!covers(view, address, bytes, write)) [[unlikely]] {
    if (!refill(w, view, address, bytes, write)) {
      raise_access(w, op, lane, address, bytes, write);
      return nullptr;
    }
  }
  if (view.logged) [[unlikely]]
    note_access(w, address, bytes, write);
  return view.data + (address - view.base);
}

template <class T> AE_LANES T load_as(const uint8_t* at) {
  T value;
  __builtin_memcpy(&value, at, sizeof value);
  return value;
}
template <class T> AE_LANES void store_as(uint8_t* at, T value) { __builtin_memcpy(at, &value, sizeof value); }

} // namespace asmevo::machine
