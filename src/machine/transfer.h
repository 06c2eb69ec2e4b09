// Transfers: how bytes of memory become lanes of rows and back. One type a kind of load or store.
#pragma once

#include "machine/access.h"
#include "machine/semantics/vectors.h"
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

/// Loads to LDS: how far apart the lanes lie (three dwords leave a fourth alone), and which bits of M0 are the offset.
/// gfx950, which alone has the wide forms, takes 18.
template <class T> inline constexpr uint32_t lds_stride = T::bytes <= 4 ? 4 : T::bytes == 8 ? 8 : 16;
template <class T> inline constexpr uint32_t lds_offset_mask = T::bytes <= 4 ? 0xffff : 0x3ffff;

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

// Elements of four dwords. The unpack instructions exchange rows and columns of 4 x 4 dwords in each 128 bits, so a
// vector of elements is put together such that 128-bit part p of vector m is an element whose dwords belong into lane p
// of its four, and four vectors of elements become four of lanes, or the other way round.
#if defined(AE_MASK_REGISTERS)
typedef __m512i NativeWords;
#define AE_UNPACK(which, size, a, b) _mm512_unpack##which##_epi##size(a, b)
#elif defined(__AVX2__)
typedef __m256i NativeWords;
#define AE_UNPACK(which, size, a, b) _mm256_unpack##which##_epi##size(a, b)
#else
typedef __m128i NativeWords;
#define AE_UNPACK(which, size, a, b) _mm_unpack##which##_epi##size(a, b)
#endif
AE_LANES void exchange4(NativeWords (&v)[4]) {
  const NativeWords ab_low = AE_UNPACK(lo, 32, v[0], v[1]), ab_high = AE_UNPACK(hi, 32, v[0], v[1]);
  const NativeWords cd_low = AE_UNPACK(lo, 32, v[2], v[3]), cd_high = AE_UNPACK(hi, 32, v[2], v[3]);
  v[0] = AE_UNPACK(lo, 64, ab_low, cd_low);
  v[1] = AE_UNPACK(hi, 64, ab_low, cd_low);
  v[2] = AE_UNPACK(lo, 64, ab_high, cd_high);
  v[3] = AE_UNPACK(hi, 64, ab_high, cd_high);
}
#undef AE_UNPACK

template <unsigned n> AE_LANES __m128i load_element(const uint8_t* at) {
  const auto* from = reinterpret_cast<const __m128i*>(at);
  return n == 2 ? _mm_loadl_epi64(from) : _mm_loadu_si128(from);
}
template <unsigned n> AE_LANES void store_element(uint8_t* at, __m128i value) {
  auto* to = reinterpret_cast<__m128i*>(at);
  if constexpr (n == 4) _mm_storeu_si128(to, value);
  if constexpr (n < 4) _mm_storel_epi64(to, value);
  if constexpr (n == 3) store_as(at + 8, uint32_t(_mm_extract_epi32(value, 2)));
}

/// Elements of vector c's lanes, found by at(lane), to n rows of lanes.
template <unsigned n, class Where> AE_LANES void load_elements(Where at, unsigned c, Row* to) {
  NativeWords v[4];
  for (unsigned m = 0; m < 4; ++m) {
    const unsigned lane = c * vector_lanes + m;
#if defined(AE_MASK_REGISTERS)
    const __m256i low =
        _mm256_inserti128_si256(_mm256_castsi128_si256(load_element<n>(at(lane))), load_element<n>(at(lane + 4)), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(load_element<n>(at(lane + 8))),
                                                 load_element<n>(at(lane + 12)), 1);
    v[m] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
#elif defined(__AVX2__)
    v[m] = _mm256_inserti128_si256(_mm256_castsi128_si256(load_element<n>(at(lane))), load_element<n>(at(lane + 4)), 1);
#else
    v[m] = load_element<n>(at(lane));
#endif
  }
  exchange4(v);
  for (unsigned k = 0; k < n; ++k) store_words(to[k].lane, c, {RawWords(v[k])});
}
/// The other way, lane after lane: where elements overlap the last one wins.
template <unsigned n, class Where> AE_LANES void store_elements(const Row* from, unsigned c, Where at) {
  NativeWords v[4] = {};
  for (unsigned k = 0; k < n; ++k) v[k] = NativeWords(load_words(from[k].lane, c).v);
  exchange4(v);
  for (unsigned part = 0; part < vector_lanes / 4; ++part)
    for (unsigned m = 0; m < 4; ++m) {
#if defined(AE_MASK_REGISTERS)
      const __m128i element = part == 0   ? _mm512_castsi512_si128(v[m])
                              : part == 1 ? _mm512_extracti32x4_epi32(v[m], 1)
                              : part == 2 ? _mm512_extracti32x4_epi32(v[m], 2)
                                          : _mm512_extracti32x4_epi32(v[m], 3);
#elif defined(__AVX2__)
      const __m128i element = part == 0 ? _mm256_castsi256_si128(v[m]) : _mm256_extracti128_si256(v[m], 1);
#else
      const __m128i element = v[m];
#endif
      store_element<n>(at(c * vector_lanes + part * 4 + m), element);
    }
}

/// Loads n dwords a lane into n rows. Reads 16 bytes where n is 3: memory has slack behind its end.
template <unsigned n> AE_LANES void gather(const Pointers& p, Row* to) {
  if constexpr (n == 1) {
    for (unsigned i = 0; i < lanes; ++i) to[0].lane[i] = load_as<uint32_t>(p.at[i]);
  } else {
    for (unsigned c = 0; c < vectors; ++c) load_elements<n>([&](unsigned i) { return p.at[i]; }, c, to);
  }
}

/// Stores n rows, lane after lane: where lanes overlap the last one wins.
template <unsigned n> AE_LANES void scatter(const Row* from, const Pointers& p) {
  if constexpr (n == 1) {
    for (unsigned i = 0; i < lanes; ++i) store_as(p.at[i], from[0].lane[i]);
  } else {
    for (unsigned c = 0; c < vectors; ++c) store_elements<n>(from, c, [&](unsigned i) { return p.at[i]; });
  }
}

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
  RawWords steps;
  for (unsigned i = 0; i < vector_lanes; ++i) steps[i] = stride * i;
  Truth different = nowhere();
  AE_EACH_VECTOR {
    const Words expected = {steps + (first + stride * vector_lanes * c)};
    different = different | !equal(load_words(r.lane, c), expected);
  }
  return !anywhere(different) && first <= 0xffffffff - stride * lanes;
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
// Four dwords a lane: vectors of whole elements.
template <> struct Block<Dwords<4>> {
  static constexpr bool exists = true;
  static constexpr uint32_t bytes = 16 * lanes;
#if defined(AE_MASK_REGISTERS)
  // Four elements a load: exchanged, they give each four lanes of one row in the wrong order, which is its own inverse.
  AE_LANES static __m512i lanes_in_order(__m512i v) {
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
  }
  AE_LANES static void load(const uint8_t* from, Row* d) {
    AE_EACH_VECTOR {
      __m512i v[4];
      for (unsigned m = 0; m < 4; ++m) v[m] = _mm512_loadu_si512(from + 256 * c + 64 * m);
      exchange4(v);
      for (unsigned k = 0; k < 4; ++k) store_words(d[k].lane, c, {RawWords(lanes_in_order(v[k]))});
    }
  }
  AE_LANES static void store(const Row* s, uint8_t* to) {
    AE_EACH_VECTOR {
      __m512i v[4];
      for (unsigned k = 0; k < 4; ++k) v[k] = lanes_in_order(__m512i(load_words(s[k].lane, c).v));
      exchange4(v);
      for (unsigned m = 0; m < 4; ++m) _mm512_storeu_si512(to + 256 * c + 64 * m, v[m]);
    }
  }
#else
  AE_LANES static void load(const uint8_t* from, Row* d) {
    AE_EACH_VECTOR load_elements<4>([&](unsigned i) { return from + 16 * i; }, c, d);
  }
  AE_LANES static void store(const Row* s, uint8_t* to) {
    AE_EACH_VECTOR store_elements<4>(s, c, [&](unsigned i) { return to + 16 * i; });
  }
#endif
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
