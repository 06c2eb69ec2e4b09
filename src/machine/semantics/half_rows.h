// Rows of f16 to rows of f32 and back, a whole row at a time: with the host's conversion instructions where it has them
// (F16C), in integer arithmetic elsewhere. The results are the same but for NaNs, where only quiet payloads are kept by
// all of them; callers that care look for NaNs themselves.
#pragma once

#include "machine/semantics/vectors.h"

#include <bit>

namespace asmevo::machine::ASMEVO_ISA {

/// f16 in the low half to f32, exactly; payloads of NaNs are kept.
AE_LANES float widen_half(uint32_t half) {
  const uint32_t magnitude = (half & 0x7fffu) << 13;
  // 2^112 moves the exponent from one bias to the other; subnormals become normal on the way.
  const uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const uint32_t special = magnitude | 0x7f800000u;
  return std::bit_cast<float>(((half & 0x7c00u) == 0x7c00u ? special : finite) | (half & 0x8000u) << 16);
}
/// f32 to f16, to nearest even; a NaN is quieted and keeps its leading payload.
AE_LANES uint32_t narrow_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffffu;
  // Normal results: round in integer arithmetic. Subnormal results: let the adder round at 2^-24.
  const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1)) >> 13;
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x477ff000u ? 0x7c00u : half;
  half = magnitude > 0x7f800000u ? (bits >> 13 & 0x3ffu) | 0x7e00u : half;
  return half | (bits >> 16 & 0x8000u);
}
/// f32 to f16 toward zero: bits are cut off, and what is too large becomes the largest number.
AE_LANES uint32_t narrow_toward_zero(uint32_t x) {
  const uint32_t magnitude = x & 0x7fffffffu;
  const uint32_t normal = (magnitude - 0x38000000u) >> 13;
  // A subnormal half is the 24-bit significand shifted down by what the exponent lacks.
  const uint32_t shift = 126u - (magnitude >> 23); // 14 for the largest subnormal
  const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t subnormal = shift < 24u ? significand >> (shift & 31u) : 0u;
  uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x47800000u ? 0x7bffu : half;
  half = magnitude == 0x7f800000u ? 0x7c00u : half;
  half = magnitude > 0x7f800000u ? (x >> 13 & 0x3ffu) | 0x7e00u : half;
  return half | (x >> 16 & 0x8000u);
}

#if defined(AE_MASK_REGISTERS)
inline constexpr __mmask16 whole = 0xffff; // GCC 12 warns about its own forms without a mask
#endif

/// The lower halves of words as f32; the upper ones must be 0.
AE_LANES Singles widened_halves(Words x) {
#if defined(AE_MASK_REGISTERS)
  return RawSingles(_mm512_maskz_cvtph_ps(whole, _mm512_maskz_cvtepi32_epi16(whole, __m512i(x.v))));
#elif defined(__AVX2__) && defined(__F16C__)
  const __m256i w = __m256i(x.v);
  return RawSingles(_mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1))));
#else
  Singles r;
  for (unsigned i = 0; i < vector_lanes; ++i) r.v[i] = widen_half(x.v[i]);
  return r;
#endif
}
/// f32 to f16 in the lower halves of words: to nearest even (0) or toward zero (3).
template <int Rounding> AE_LANES Words narrowed_to_halves(Singles x) {
#if defined(AE_MASK_REGISTERS)
  return {RawWords(_mm512_maskz_cvtepu16_epi32(whole, _mm512_maskz_cvtps_ph(whole, __m512(x.v), Rounding)))};
#elif defined(__AVX2__) && defined(__F16C__)
  return {RawWords(_mm256_cvtepu16_epi32(_mm256_cvtps_ph(__m256(x.v), Rounding)))};
#else
  Words r;
  for (unsigned i = 0; i < vector_lanes; ++i)
    r.v[i] = Rounding ? narrow_toward_zero(bits_of(x).v[i]) : narrow_to_half(x.v[i]);
  return r;
#endif
}

AE_LANES void widen_row(const uint32_t* in, Row& out, unsigned shift = 0) {
  AE_EACH_VECTOR store_words(out.lane, c, bits_of(widened_halves({load_words(in, c).v >> shift & 0xffffu})));
}
template <int Rounding> AE_LANES void narrow_row_as(const uint32_t* in, Row& out) {
  AE_EACH_VECTOR store_words(out.lane, c, narrowed_to_halves<Rounding>(singles_of(load_words(in, c))));
}
/// f32 to f16 in the low half, to nearest even; toward zero.
AE_LANES void narrow_row(const uint32_t* in, Row& out) { narrow_row_as<0>(in, out); }
AE_LANES void cut_row(const uint32_t* in, Row& out) { narrow_row_as<3>(in, out); }

/// Halves that are subnormal become zero of their sign: in f16, and widened to f32.
AE_LANES uint32_t flush16(uint32_t x) { return x & 0x7c00u ? x : x & 0x8000u; }
AE_LANES void flush_halves(Row& r) { AE_EACH_LANE r.lane[i] = flush16(r.lane[i]); }
AE_LANES void flush_widened(Row& r) {
  AE_EACH_LANE r.lane[i] = (r.lane[i] & 0x7fffffffu) < 0x38800000u ? r.lane[i] & 0x80000000u : r.lane[i];
}

} // namespace asmevo::machine::ASMEVO_ISA
