// Transfers: how bytes of memory become lanes of rows and back. One type a kind of load or store.
#pragma once

#include "machine/access.h"
#include "machine/lanes.h"
#include "machine/tracer.h"

#include <type_traits>

namespace asmevo::machine::ASMEVO_ISA {

/// 1 to 4 dwords, in as many rows.
template <unsigned n> struct Dwords {
  static constexpr unsigned bytes = 4 * n;
  AE_LANES static void put(Row* d, unsigned i, const uint8_t* from) {
    for (unsigned k = 0; k < n; ++k) d[k].lane[i] = load_as<uint32_t>(from + 4 * k);
  }
  AE_LANES static void get(const Row* s, unsigned i, uint8_t* to) {
    for (unsigned k = 0; k < n; ++k) store_as(to + 4 * k, s[k].lane[i]);
  }
};

/// A byte or short, zero- or sign-extended to a dword; stores take the low bits.
template <class T> struct Small {
  static constexpr unsigned bytes = sizeof(T);
  AE_LANES static void put(Row* d, unsigned i, const uint8_t* from) {
    d[0].lane[i] = uint32_t(int32_t(load_as<T>(from)));
  }
  AE_LANES static void get(const Row* s, unsigned i, uint8_t* to) { store_as(to, T(s[0].lane[i])); }
};

/// D16: a byte or short extended to 16 bits in one half of the register; the other half stays.
template <class T, bool high> struct Half {
  static constexpr unsigned bytes = sizeof(T);
  AE_LANES static void put(Row* d, unsigned i, const uint8_t* from) {
    const uint32_t value = uint16_t(int16_t(load_as<T>(from))), old = d[0].lane[i];
    d[0].lane[i] = high ? value << 16 | (old & 0xffff) : value | (old & 0xffff0000);
  }
  AE_LANES static void get(const Row* s, unsigned i, uint8_t* to) {
    store_as(to, T(high ? s[0].lane[i] >> 16 : s[0].lane[i]));
  }
};

inline constexpr uint8_t zeros[16] = {};

/// For each lane of `mask`, in order; stops where f says false.
template <class F> AE_LANES bool each_active(uint64_t mask, F f) {
  if (mask == all_lanes) {
    for (unsigned i = 0; i < lanes; ++i)
      if (!f(i)) return false;
    return true;
  }
  for (; mask; mask &= mask - 1)
    if (!f(unsigned(__builtin_ctzll(mask)))) return false;
  return true;
}

/// Tells the tracer, where there is one, which lanes of `mask` access what.
template <class Address>
AE_LANES void trace_access(Wave& w, Space space, bool write, uint32_t bytes, uint64_t mask, Address address) {
  Tracer* tracer = w.workgroup->tracer;
  if (!tracer) [[likely]]
    return;
  uint64_t addresses[lanes];
  for (unsigned i = 0; i < lanes; ++i) addresses[i] = mask >> i & 1 ? address(i) : 0;
  tracer->access(w, space, write, bytes, addresses, mask);
}

} // namespace asmevo::machine::ASMEVO_ISA
