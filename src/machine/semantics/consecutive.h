// Addresses side by side, the most frequent case of all.
#pragma once

#include "machine/lanes.h"

namespace asmevo::machine::ASMEVO_ISA {

/// Whether the lanes hold consecutive multiples of `stride` (and none wraps).
template <uint32_t stride> AE_LANES bool consecutive_by(const Row& r) {
  const uint32_t first = r.lane[0];
#if defined(__AVX512F__)
  const __m512i steps =
      _mm512_setr_epi32(0, stride, 2 * stride, 3 * stride, 4 * stride, 5 * stride, 6 * stride, 7 * stride, 8 * stride,
                        9 * stride, 10 * stride, 11 * stride, 12 * stride, 13 * stride, 14 * stride, 15 * stride);
  const __m512i start = _mm512_add_epi32(steps, _mm512_set1_epi32(int(first)));
  __m512i bits = _mm512_xor_si512(_mm512_load_si512(r.lane), start);
  for (unsigned i = 16; i < lanes; i += 16) // the sixteenths differ by constants
    bits = _mm512_or_si512(bits, _mm512_xor_si512(_mm512_load_si512(r.lane + i),
                                                  _mm512_add_epi32(start, _mm512_set1_epi32(int(stride * i)))));
  const bool different = _mm512_test_epi32_mask(bits, bits) != 0;
#else
  uint32_t different = 0;
  AE_EACH_LANE different |= r.lane[i] ^ (first + stride * i);
#endif
  return !different && first <= 0xffffffff - stride * lanes;
}
/// Whether all lanes hold the same.
AE_LANES bool uniform(const Row& r) {
  uint32_t different = 0;
  AE_EACH_LANE different |= r.lane[i] ^ r.lane[0];
  return different == 0;
}

} // namespace asmevo::machine::ASMEVO_ISA
