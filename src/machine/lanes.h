// Loops over lanes, for files in semantics/.
//
// `each_lane(w, f)` is the only place where EXEC meets arithmetic: with all lanes active it is a plain loop, else each
// result is blended with what the destination holds, under the expanded lane mask, so that partial EXEC costs one
// blend. The loops carry no dependence between lanes: rows are equal or disjoint, and a lane reads before it writes.
#pragma once

#include "machine/op.h"

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

#ifndef ASMEVO_ISA
#error "files that include machine/lanes.h are compiled once an instruction set"
#endif

#if defined(__clang__)
#define AE_EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < lanes; ++i)
#else
#define AE_EACH_LANE _Pragma("GCC ivdep") for (unsigned i = 0; i < lanes; ++i)
#endif

namespace asmevo::machine::ASMEVO_ISA {

/// ~0 in lanes whose bit is set, 0 elsewhere.
AE_LANES void expand_mask(uint64_t mask, Row& out) {
#if defined(__AVX512F__)
  for (unsigned i = 0; i < 4; ++i)
    _mm512_store_si512(out.lane + i * 16, _mm512_maskz_set1_epi32(__mmask16(mask >> (i * 16)), -1));
#elif defined(__AVX2__)
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  for (unsigned i = 0; i < 8; ++i) {
    __m256i spread = _mm256_and_si256(_mm256_set1_epi32(int(mask >> (i * 8) & 0xff)), bits);
    _mm256_store_si256(reinterpret_cast<__m256i*>(out.lane + i * 8), _mm256_cmpeq_epi32(spread, bits));
  }
#else
  for (unsigned i = 0; i < lanes; ++i) out.lane[i] = 0u - uint32_t(mask >> i & 1);
#endif
}

/// Bit i is the top bit of lane i. Lanes hold ~0 or 0 (or anything whose top bit says it).
AE_LANES uint64_t pack_mask(const Row& in) {
  uint64_t mask = 0;
#if defined(__AVX512DQ__)
  for (unsigned i = 0; i < 4; ++i)
    mask |= uint64_t{_mm512_movepi32_mask(_mm512_load_si512(in.lane + i * 16))} << (i * 16);
#elif defined(__AVX2__)
  for (unsigned i = 0; i < 8; ++i)
    mask |= uint64_t(uint32_t(_mm256_movemask_ps(_mm256_load_ps(reinterpret_cast<const float*>(in.lane + i * 8)))))
            << (i * 8);
#else
  for (unsigned i = 0; i < 16; ++i)
    mask |= uint64_t(uint32_t(_mm_movemask_ps(_mm_load_ps(reinterpret_cast<const float*>(in.lane + i * 4)))))
            << (i * 4);
#endif
  return mask;
}

/// EXEC as a row of lane masks, expanded again only when EXEC has changed.
AE_LANES const Row& active(Wave& w, uint64_t exec) {
  if (w.mask_of != exec) [[unlikely]] {
    expand_mask(exec, w.lane_mask);
    w.mask_of = exec;
  }
  return w.lane_mask;
}

/// d[i] = f(i) in every active lane. f must not touch other lanes.
template <class F> AE_LANES void each_lane(Wave& w, Row& d, F f) {
  const uint64_t exec = w.exec();
  if (exec == all_lanes) [[likely]] {
    AE_EACH_LANE d.lane[i] = f(i);
  } else {
    const Row& on = active(w, exec);
    AE_EACH_LANE {
      uint32_t result = f(i);
      d.lane[i] = on.lane[i] ? result : d.lane[i];
    }
  }
}

/// As each_lane for 64-bit results in two rows.
template <class F> AE_LANES void each_lane64(Wave& w, Row& lo, Row& hi, F f) {
  const uint64_t exec = w.exec();
  if (exec == all_lanes) [[likely]] {
    AE_EACH_LANE {
      uint64_t result = f(i);
      lo.lane[i] = uint32_t(result);
      hi.lane[i] = uint32_t(result >> 32);
    }
  } else {
    const Row& on = active(w, exec);
    AE_EACH_LANE {
      uint64_t result = f(i);
      lo.lane[i] = on.lane[i] ? uint32_t(result) : lo.lane[i];
      hi.lane[i] = on.lane[i] ? uint32_t(result >> 32) : hi.lane[i];
    }
  }
}

/// The bits f(i) (bool) of the active lanes, 0 elsewhere: what a compare writes.
template <class F> AE_LANES uint64_t each_lane_bit(Wave& w, F f) {
  Row bits;
  AE_EACH_LANE bits.lane[i] = f(i) ? ~0u : 0u;
  return pack_mask(bits) & w.exec();
}

} // namespace asmevo::machine::ASMEVO_ISA
