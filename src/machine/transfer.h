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

/// Host addresses of one access, a lane each. Lanes that are off or out of range point at bytes that do not matter.
struct Pointers {
  uint8_t* at[lanes];
};

#if defined(__SSE2__)
/// Four lanes' vectors of four dwords to four rows' vectors of four lanes, and back: the same exchange.
AE_LANES void transpose4(__m128i& a, __m128i& b, __m128i& c, __m128i& d) {
  const __m128i ab_low = _mm_unpacklo_epi32(a, b), ab_high = _mm_unpackhi_epi32(a, b);
  const __m128i cd_low = _mm_unpacklo_epi32(c, d), cd_high = _mm_unpackhi_epi32(c, d);
  a = _mm_unpacklo_epi64(ab_low, cd_low);
  b = _mm_unpackhi_epi64(ab_low, cd_low);
  c = _mm_unpacklo_epi64(ab_high, cd_high);
  d = _mm_unpackhi_epi64(ab_high, cd_high);
}

/// Loads n dwords a lane into n rows. Reads 16 bytes where n is 3: memory has slack behind its end.
template <unsigned n> AE_LANES void gather(const Pointers& p, Row* to) {
  if constexpr (n == 1) {
    for (unsigned i = 0; i < lanes; ++i) to[0].lane[i] = load_as<uint32_t>(p.at[i]);
    return;
  }
  for (unsigned i = 0; i < lanes; i += 4) {
    __m128i lane[4];
    for (unsigned k = 0; k < 4; ++k) {
      const auto* from = reinterpret_cast<const __m128i*>(p.at[i + k]);
      lane[k] = n == 2 ? _mm_loadl_epi64(from) : _mm_loadu_si128(from);
    }
    transpose4(lane[0], lane[1], lane[2], lane[3]);
    for (unsigned k = 0; k < n; ++k) _mm_store_si128(reinterpret_cast<__m128i*>(to[k].lane + i), lane[k]);
  }
}

/// Stores n rows, lane after lane: where lanes overlap the last one wins.
template <unsigned n> AE_LANES void scatter(const Row* from, const Pointers& p) {
  if constexpr (n == 1) {
    for (unsigned i = 0; i < lanes; ++i) store_as(p.at[i], from[0].lane[i]);
    return;
  }
  for (unsigned i = 0; i < lanes; i += 4) {
    __m128i row[4] = {};
    for (unsigned k = 0; k < n; ++k) row[k] = _mm_load_si128(reinterpret_cast<const __m128i*>(from[k].lane + i));
    transpose4(row[0], row[1], row[2], row[3]);
    for (unsigned k = 0; k < 4; ++k) {
      auto* to = reinterpret_cast<__m128i*>(p.at[i + k]);
      if constexpr (n == 4) _mm_storeu_si128(to, row[k]);
      if constexpr (n < 4) _mm_storel_epi64(to, row[k]);
      if constexpr (n == 3) store_as(p.at[i + k] + 8, uint32_t(_mm_extract_epi32(row[k], 2)));
    }
  }
}
#endif

/// How whole instructions move their lanes through pointers.
template <class T> struct Bulk {
  AE_LANES static void load(Wave& w, const Pointers& p, Row* d) {
    each_active(w.exec(), [&](unsigned i) {
      T::put(d, i, p.at[i]);
      return true;
    });
  }
  AE_LANES static void store(const Pointers& p, const Row* s, uint64_t exec) {
    each_active(exec, [&](unsigned i) {
      T::get(s, i, p.at[i]);
      return true;
    });
  }
};
template <unsigned n> struct Bulk<Dwords<n>> {
  AE_LANES static void load(Wave& w, const Pointers& p, Row* d) {
    if (w.exec() == all_lanes) return gather<n>(p, d);
    Row loaded[n];
    gather<n>(p, loaded);
    for (unsigned k = 0; k < n; ++k) each_lane(w, d[k], [&](unsigned i) { return loaded[k].lane[i]; });
  }
  AE_LANES static void store(const Pointers& p, const Row* s, uint64_t) { scatter<n>(s, p); }
};

/// Whether the lanes hold consecutive multiples of `stride` (and none wraps): then memory is one block.
template <uint32_t stride> AE_LANES bool consecutive(const Row& r) {
  const uint32_t first = r.lane[0];
  uint32_t different = 0;
  AE_EACH_LANE different |= r.lane[i] ^ (first + stride * i);
  return different == 0 && first <= 0xffffffff - stride * lanes;
}

/// Transfers of all lanes with a block of memory.
template <class T> struct Block {
  static constexpr bool exists = false;
};
template <unsigned n> struct Block<Dwords<n>> {
  static constexpr bool exists = true;
  static constexpr uint32_t bytes = 4 * n * lanes;
  AE_LANES static void load(const uint8_t* from, Row* d) {
    struct alignas(64) Elements {
      uint32_t dword[lanes * n];
    };
    Elements block;
    __builtin_memcpy(&block, from, bytes);
    AE_EACH_LANE {
      for (unsigned k = 0; k < n; ++k) d[k].lane[i] = block.dword[i * n + k];
    }
  }
  AE_LANES static void store(const Row* s, uint8_t* to) {
    struct alignas(64) Elements {
      uint32_t dword[lanes * n];
    };
    Elements block;
    AE_EACH_LANE {
      for (unsigned k = 0; k < n; ++k) block.dword[i * n + k] = s[k].lane[i];
    }
    __builtin_memcpy(to, &block, bytes);
  }
};
// One dword a lane is a plain copy of the row.
template <> struct Block<Dwords<1>> {
  static constexpr bool exists = true;
  static constexpr uint32_t bytes = 4 * lanes;
  AE_LANES static void load(const uint8_t* from, Row* d) { __builtin_memcpy(d->lane, from, bytes); }
  AE_LANES static void store(const Row* s, uint8_t* to) { __builtin_memcpy(to, s->lane, bytes); }
};

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
