// Vectors: as many lanes as the host computes at once, as values.
//
// A loop over lanes that the compiler vectorises is the simplest way to say what an instruction does, and where it does
// one thing it is also the fastest. Where results wait in registers until all of them are known (a NaN may yet call for
// another way), where a comparison becomes a mask, or where a carry goes with a sum, the compiler's loops go through
// memory instead. These types say the same in vectors: Words are 32-bit lanes, Longs 64-bit ones in two rows' words,
// Singles and Doubles are floating-point lanes, a Truth is a condition a lane. On AVX-512 a Truth is a mask register,
// elsewhere a vector of ~0 and 0. A row is `vectors` of them, and AE_EACH_VECTOR goes through it.
//
// Doubles are two native vectors whose lanes are in whatever order interleaving two rows' words gives cheaply; only
// conversions need to know.
#pragma once

#include "machine/lanes.h"

#include <bit>

#if !defined(__AVX2__) // right, not fast
#define AE_EACH_VECTOR for (unsigned c = 0; c < vectors; ++c)
#elif defined(__clang__)
#define AE_EACH_VECTOR _Pragma("unroll") for (unsigned c = 0; c < vectors; ++c)
#else
#define AE_EACH_VECTOR _Pragma("GCC unroll 8") for (unsigned c = 0; c < vectors; ++c)
#endif

namespace asmevo::machine::ASMEVO_ISA {

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define AE_MASK_REGISTERS 1
inline constexpr unsigned vector_lanes = 16;
#elif defined(__AVX2__)
inline constexpr unsigned vector_lanes = 8;
#else
inline constexpr unsigned vector_lanes = 4;
#endif
inline constexpr unsigned vectors = lanes / vector_lanes; // of a row

typedef uint32_t RawWords __attribute__((vector_size(4 * vector_lanes)));
typedef int32_t RawIntegers __attribute__((vector_size(4 * vector_lanes)));
typedef float RawSingles __attribute__((vector_size(4 * vector_lanes)));
typedef uint64_t RawLongs __attribute__((vector_size(4 * vector_lanes)));
typedef double RawDoubles __attribute__((vector_size(4 * vector_lanes)));

// Conditions
// -----------------------------------------------------------------------------------------------------------

struct Truth {
#if defined(AE_MASK_REGISTERS)
  __mmask16 mask;
  AE_LANES friend Truth operator&(Truth a, Truth b) { return {__mmask16(a.mask & b.mask)}; }
  AE_LANES friend Truth operator|(Truth a, Truth b) { return {__mmask16(a.mask | b.mask)}; }
  AE_LANES friend Truth operator^(Truth a, Truth b) { return {__mmask16(a.mask ^ b.mask)}; }
  AE_LANES friend Truth operator!(Truth a) { return {__mmask16(~a.mask)}; }
#else
  RawWords mask;
  AE_LANES friend Truth operator&(Truth a, Truth b) { return {a.mask & b.mask}; }
  AE_LANES friend Truth operator|(Truth a, Truth b) { return {a.mask | b.mask}; }
  AE_LANES friend Truth operator^(Truth a, Truth b) { return {a.mask ^ b.mask}; }
  AE_LANES friend Truth operator!(Truth a) { return {~a.mask}; }
#endif
};

AE_LANES Truth nowhere() { return {decltype(Truth::mask){}}; }

/// One bit a lane.
AE_LANES uint64_t bits_of(Truth t) {
#if defined(AE_MASK_REGISTERS)
  return t.mask;
#elif defined(__AVX2__)
  return uint32_t(_mm256_movemask_ps(__m256(t.mask)));
#else
  return uint32_t(_mm_movemask_ps(__m128(t.mask)));
#endif
}
AE_LANES bool anywhere(Truth t) { return bits_of(t) != 0; }

/// Vector c of a lane mask.
AE_LANES Truth truth_of(uint64_t mask, unsigned c) {
#if defined(AE_MASK_REGISTERS)
  return {__mmask16(mask >> (c * vector_lanes))};
#else
  RawWords bit;
  for (unsigned i = 0; i < vector_lanes; ++i) bit[i] = 1u << i;
  const RawWords all = RawWords{} + uint32_t(mask >> (c * vector_lanes));
  return {RawWords((all & bit) == bit)};
#endif
}

// Words
// ---------------------------------------------------------------------------------------------------------------

struct Words {
  RawWords v;
#define AE_OPERATOR(symbol)                                                                                            \
  AE_LANES friend Words operator symbol(Words a, Words b) { return {a.v symbol b.v}; }                                 \
  AE_LANES friend Words operator symbol(Words a, uint32_t b) { return {a.v symbol b}; }
  AE_OPERATOR(+)
  AE_OPERATOR(-)
  AE_OPERATOR(*) AE_OPERATOR(&) AE_OPERATOR(|) AE_OPERATOR(^)
#undef AE_OPERATOR
      AE_LANES friend Words operator~(Words a) {
    return {~a.v};
  }
};

AE_LANES Words words(uint32_t value) { return {RawWords{} + value}; }
AE_LANES Words load_words(const uint32_t* lane, unsigned c) {
  Words w;
  __builtin_memcpy(&w.v, lane + c * vector_lanes, sizeof w.v);
  return w;
}
AE_LANES void store_words(uint32_t* lane, unsigned c, Words w) {
  __builtin_memcpy(lane + c * vector_lanes, &w.v, sizeof w.v);
}

AE_LANES Words select(Truth t, Words a, Words b) {
#if defined(AE_MASK_REGISTERS)
  return {RawWords(_mm512_mask_blend_epi32(t.mask, __m512i(b.v), __m512i(a.v)))};
#elif defined(__AVX2__)
  return {RawWords(_mm256_blendv_epi8(__m256i(b.v), __m256i(a.v), __m256i(t.mask)))};
#else
  return {(t.mask & a.v) | (~t.mask & b.v)};
#endif
}
AE_LANES Truth equal(Words a, Words b) {
#if defined(AE_MASK_REGISTERS)
  return {_mm512_cmpeq_epi32_mask(__m512i(a.v), __m512i(b.v))};
#else
  return {RawWords(a.v == b.v)};
#endif
}
/// Where none of the bits is set.
AE_LANES Truth without_bits(Words a, uint32_t bits) {
#if defined(AE_MASK_REGISTERS)
  return {_mm512_testn_epi32_mask(__m512i(a.v), _mm512_set1_epi32(int(bits)))};
#else
  return {RawWords((a.v & bits) == RawWords{})};
#endif
}
AE_LANES Truth below(Words a, Words b) { // unsigned
#if defined(AE_MASK_REGISTERS)
  return {_mm512_cmplt_epu32_mask(__m512i(a.v), __m512i(b.v))};
#else
  return {RawWords(RawIntegers(a.v ^ 0x80000000u) < RawIntegers(b.v ^ 0x80000000u))};
#endif
}
AE_LANES Truth less(Words a, Words b) { // signed
#if defined(AE_MASK_REGISTERS)
  return {_mm512_cmplt_epi32_mask(__m512i(a.v), __m512i(b.v))};
#else
  return {RawWords(RawIntegers(a.v) < RawIntegers(b.v))};
#endif
}

/// Shifts by words: amounts from 32 on give 0, or the sign.
AE_LANES Words shifted_left(Words a, Words n) {
#if defined(AE_MASK_REGISTERS)
  return {RawWords(_mm512_sllv_epi32(__m512i(a.v), __m512i(n.v)))};
#elif defined(__AVX2__)
  return {RawWords(_mm256_sllv_epi32(__m256i(a.v), __m256i(n.v)))};
#else
  for (unsigned i = 0; i < vector_lanes; ++i) a.v[i] = n.v[i] < 32 ? a.v[i] << n.v[i] : 0;
  return a;
#endif
}
AE_LANES Words shifted_right(Words a, Words n) {
#if defined(AE_MASK_REGISTERS)
  return {RawWords(_mm512_srlv_epi32(__m512i(a.v), __m512i(n.v)))};
#elif defined(__AVX2__)
  return {RawWords(_mm256_srlv_epi32(__m256i(a.v), __m256i(n.v)))};
#else
  for (unsigned i = 0; i < vector_lanes; ++i) a.v[i] = n.v[i] < 32 ? a.v[i] >> n.v[i] : 0;
  return a;
#endif
}
AE_LANES Words shifted_right_signed(Words a, Words n) {
#if defined(AE_MASK_REGISTERS)
  return {RawWords(_mm512_srav_epi32(__m512i(a.v), __m512i(n.v)))};
#elif defined(__AVX2__)
  return {RawWords(_mm256_srav_epi32(__m256i(a.v), __m256i(n.v)))};
#else
  for (unsigned i = 0; i < vector_lanes; ++i) a.v[i] = uint32_t(int32_t(a.v[i]) >> (n.v[i] < 32 ? n.v[i] : 31));
  return a;
#endif
}

// Single precision
// ----------------------------------------------------------------------------------------------------

struct Singles {
  RawSingles v;
  Singles() = default;
  AE_LANES Singles(RawSingles raw) : v(raw) {}
  AE_LANES Singles(float value) : v(RawSingles(RawWords{} + std::bit_cast<uint32_t>(value))) {}
#define AE_OPERATOR(symbol)                                                                                            \
  AE_LANES friend Singles operator symbol(Singles a, Singles b) { return a.v symbol b.v; }
  AE_OPERATOR(+)
  AE_OPERATOR(-)
  AE_OPERATOR(*) AE_OPERATOR(/)
#undef AE_OPERATOR
#if defined(AE_MASK_REGISTERS)
#define AE_COMPARISON(symbol, predicate)                                                                               \
  AE_LANES friend Truth operator symbol(Singles a, Singles b) {                                                        \
    return {_mm512_cmp_ps_mask(__m512(a.v), __m512(b.v), predicate)};                                                  \
  }
#else
#define AE_COMPARISON(symbol, predicate)                                                                               \
  AE_LANES friend Truth operator symbol(Singles a, Singles b) { return {RawWords(a.v symbol b.v)}; }
#endif
      AE_COMPARISON(<, _CMP_LT_OQ) AE_COMPARISON(<=, _CMP_LE_OQ) AE_COMPARISON(>, _CMP_GT_OQ)
          AE_COMPARISON(>=, _CMP_GE_OQ) AE_COMPARISON(==, _CMP_EQ_OQ) AE_COMPARISON(!=, _CMP_NEQ_UQ)
#undef AE_COMPARISON
};
AE_LANES Words bits_of(Singles x) { return {RawWords(x.v)}; }
AE_LANES Singles singles_of(Words w) { return RawSingles(w.v); }
AE_LANES Singles operator-(Singles x) { return singles_of(bits_of(x) ^ 0x80000000u); }
AE_LANES Singles select(Truth t, Singles a, Singles b) { return singles_of(select(t, bits_of(a), bits_of(b))); }
AE_LANES Truth unordered(Singles a, Singles b) {
#if defined(AE_MASK_REGISTERS)
  return {_mm512_cmp_ps_mask(__m512(a.v), __m512(b.v), _CMP_UNORD_Q)};
#elif defined(__AVX2__)
  return {RawWords(_mm256_cmp_ps(__m256(a.v), __m256(b.v), _CMP_UNORD_Q))};
#else
  return {RawWords(_mm_cmpunord_ps(__m128(a.v), __m128(b.v)))};
#endif
}
AE_LANES Truth is_nan(Singles x) { return unordered(x, x); }

// Double precision
// ----------------------------------------------------------------------------------------------------

/// The bits of Doubles.
struct DoubleBits {
  RawLongs half[2];
#define AE_OPERATOR(symbol)                                                                                            \
  AE_LANES friend DoubleBits operator symbol(DoubleBits a, DoubleBits b) {                                             \
    return {{a.half[0] symbol b.half[0], a.half[1] symbol b.half[1]}};                                                 \
  }                                                                                                                    \
  AE_LANES friend DoubleBits operator symbol(DoubleBits a, uint64_t b) {                                               \
    return {{a.half[0] symbol b, a.half[1] symbol b}};                                                                 \
  }
  AE_OPERATOR(+) AE_OPERATOR(-) AE_OPERATOR(&) AE_OPERATOR(|) AE_OPERATOR(^) AE_OPERATOR(<<) AE_OPERATOR(>>)
#undef AE_OPERATOR
};

/// A condition of Doubles.
struct DoubleTruth {
#if defined(AE_MASK_REGISTERS)
  __mmask8 half[2];
#else
  RawLongs half[2];
#endif
  AE_LANES friend DoubleTruth operator&(DoubleTruth a, DoubleTruth b) {
    a.half[0] &= b.half[0], a.half[1] &= b.half[1];
    return a;
  }
  AE_LANES friend DoubleTruth operator|(DoubleTruth a, DoubleTruth b) {
    a.half[0] |= b.half[0], a.half[1] |= b.half[1];
    return a;
  }
  AE_LANES friend DoubleTruth operator!(DoubleTruth a) {
    a.half[0] = ~a.half[0], a.half[1] = ~a.half[1];
    return a;
  }
  /// Of Doubles that were made of rows.
  AE_LANES explicit operator Truth() const;
};

struct Doubles {
  RawDoubles half[2];
  Doubles() = default;
  AE_LANES Doubles(RawDoubles first, RawDoubles second) : half{first, second} {}
  AE_LANES Doubles(double value)
      : half{RawDoubles(RawLongs{} + std::bit_cast<uint64_t>(value)),
             RawDoubles(RawLongs{} + std::bit_cast<uint64_t>(value))} {}
#define AE_OPERATOR(symbol)                                                                                            \
  AE_LANES friend Doubles operator symbol(Doubles a, Doubles b) {                                                      \
    return {a.half[0] symbol b.half[0], a.half[1] symbol b.half[1]};                                                   \
  }
  AE_OPERATOR(+)
  AE_OPERATOR(-)
  AE_OPERATOR(*) AE_OPERATOR(/)
#undef AE_OPERATOR
#if defined(AE_MASK_REGISTERS)
#define AE_COMPARISON(symbol, predicate)                                                                               \
  AE_LANES friend DoubleTruth operator symbol(Doubles a, Doubles b) {                                                  \
    return {{_mm512_cmp_pd_mask(__m512d(a.half[0]), __m512d(b.half[0]), predicate),                                    \
             _mm512_cmp_pd_mask(__m512d(a.half[1]), __m512d(b.half[1]), predicate)}};                                  \
  }
#else
#define AE_COMPARISON(symbol, predicate)                                                                               \
  AE_LANES friend DoubleTruth operator symbol(Doubles a, Doubles b) {                                                  \
    return {{RawLongs(a.half[0] symbol b.half[0]), RawLongs(a.half[1] symbol b.half[1])}};                             \
  }
#endif
      AE_COMPARISON(<, _CMP_LT_OQ) AE_COMPARISON(<=, _CMP_LE_OQ) AE_COMPARISON(>, _CMP_GT_OQ)
          AE_COMPARISON(>=, _CMP_GE_OQ) AE_COMPARISON(==, _CMP_EQ_OQ) AE_COMPARISON(!=, _CMP_NEQ_UQ)
#undef AE_COMPARISON
};
AE_LANES DoubleBits bits_of(Doubles x) { return {{RawLongs(x.half[0]), RawLongs(x.half[1])}}; }
AE_LANES Doubles doubles_of(DoubleBits b) { return {RawDoubles(b.half[0]), RawDoubles(b.half[1])}; }
AE_LANES Doubles operator-(Doubles x) { return doubles_of(bits_of(x) ^ 0x8000000000000000u); }
AE_LANES DoubleBits select(DoubleTruth t, DoubleBits a, DoubleBits b) {
  for (unsigned h = 0; h < 2; ++h) {
#if defined(AE_MASK_REGISTERS)
    a.half[h] = RawLongs(_mm512_mask_blend_epi64(t.half[h], __m512i(b.half[h]), __m512i(a.half[h])));
#else
    a.half[h] = (t.half[h] & a.half[h]) | (~t.half[h] & b.half[h]);
#endif
  }
  return a;
}
AE_LANES Doubles select(DoubleTruth t, Doubles a, Doubles b) { return doubles_of(select(t, bits_of(a), bits_of(b))); }

// Operations that have no operator.
#if defined(AE_MASK_REGISTERS)
#define AE_NATIVE(name, suffix) _mm512_##name##_##suffix
typedef __m512 NativeSingles;
typedef __m512d NativeDoubles;
#elif defined(__AVX2__)
#define AE_NATIVE(name, suffix) _mm256_##name##_##suffix
typedef __m256 NativeSingles;
typedef __m256d NativeDoubles;
#else
#define AE_NATIVE(name, suffix) _mm_##name##_##suffix
typedef __m128 NativeSingles;
typedef __m128d NativeDoubles;
#endif
#if defined(AE_MASK_REGISTERS)
#define AE_ROUND(x, suffix, how) _mm512_roundscale_##suffix(x, how)
#else
#define AE_ROUND(x, suffix, how) AE_NATIVE(round, suffix)(x, how)
#endif
/// To an integral value: `how` as the host's rounding instructions number the directions.
template <int how> AE_LANES Singles integral(Singles x) {
  return RawSingles(AE_ROUND(NativeSingles(x.v), ps, how | _MM_FROUND_NO_EXC));
}
template <int how> AE_LANES Doubles integral(Doubles x) {
  return {RawDoubles(AE_ROUND(NativeDoubles(x.half[0]), pd, how | _MM_FROUND_NO_EXC)),
          RawDoubles(AE_ROUND(NativeDoubles(x.half[1]), pd, how | _MM_FROUND_NO_EXC))};
}
AE_LANES Singles square_root(Singles x) { return RawSingles(AE_NATIVE(sqrt, ps)(NativeSingles(x.v))); }
AE_LANES Doubles square_root(Doubles x) {
  return {RawDoubles(AE_NATIVE(sqrt, pd)(NativeDoubles(x.half[0]))),
          RawDoubles(AE_NATIVE(sqrt, pd)(NativeDoubles(x.half[1])))};
}
/// a * b + c with one rounding.
AE_LANES Singles fused(Singles a, Singles b, Singles c) {
#if defined(__FMA__)
  return RawSingles(AE_NATIVE(fmadd, ps)(NativeSingles(a.v), NativeSingles(b.v), NativeSingles(c.v)));
#else
  for (unsigned i = 0; i < vector_lanes; ++i) c.v[i] = __builtin_fmaf(a.v[i], b.v[i], c.v[i]);
  return c;
#endif
}
AE_LANES Doubles fused(Doubles a, Doubles b, Doubles c) {
  for (unsigned h = 0; h < 2; ++h) {
#if defined(__FMA__)
    c.half[h] =
        RawDoubles(AE_NATIVE(fmadd, pd)(NativeDoubles(a.half[h]), NativeDoubles(b.half[h]), NativeDoubles(c.half[h])));
#else
    for (unsigned i = 0; i < vector_lanes / 2; ++i)
      c.half[h][i] = __builtin_fma(a.half[h][i], b.half[h][i], c.half[h][i]);
#endif
  }
  return c;
}
#undef AE_ROUND
#undef AE_NATIVE

/// Singles to Doubles in order, and back with one rounding.
AE_LANES Doubles widened(Singles x) {
#if defined(AE_MASK_REGISTERS)
  return {RawDoubles(_mm512_cvtps_pd(_mm512_castps512_ps256(__m512(x.v)))),
          RawDoubles(_mm512_cvtps_pd(_mm512_extractf32x8_ps(__m512(x.v), 1)))};
#elif defined(__AVX2__)
  return {RawDoubles(_mm256_cvtps_pd(_mm256_castps256_ps128(__m256(x.v)))),
          RawDoubles(_mm256_cvtps_pd(_mm256_extractf128_ps(__m256(x.v), 1)))};
#else
  return {RawDoubles(_mm_cvtps_pd(__m128(x.v))), RawDoubles(_mm_cvtps_pd(_mm_movehl_ps(__m128(x.v), __m128(x.v))))};
#endif
}
AE_LANES Singles narrowed(Doubles x) {
#if defined(AE_MASK_REGISTERS)
  return RawSingles(_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(__m512d(x.half[0]))),
                                       _mm512_cvtpd_ps(__m512d(x.half[1])), 1));
#elif defined(__AVX2__)
  return RawSingles(_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(__m256d(x.half[0]))),
                                         _mm256_cvtpd_ps(__m256d(x.half[1])), 1));
#else
  return RawSingles(_mm_movelh_ps(_mm_cvtpd_ps(__m128d(x.half[0])), _mm_cvtpd_ps(__m128d(x.half[1]))));
#endif
}

/// 64-bit lanes as the words of two rows.
struct Longs {
  Words lo, hi;
};
AE_LANES Truth is_nan(Longs x) {
  // The low word only matters where the high one is that of an infinity.
  const Words top = (x.hi & 0x7fffffffu) | select(equal(x.lo, words(0)), words(0), words(1));
  return less(words(0x7ff00000u), top);
}
AE_LANES Doubles doubles_of(Longs x) {
#if defined(AE_MASK_REGISTERS)
  return {RawDoubles(_mm512_unpacklo_epi32(__m512i(x.lo.v), __m512i(x.hi.v))),
          RawDoubles(_mm512_unpackhi_epi32(__m512i(x.lo.v), __m512i(x.hi.v)))};
#elif defined(__AVX2__)
  return {RawDoubles(_mm256_unpacklo_epi32(__m256i(x.lo.v), __m256i(x.hi.v))),
          RawDoubles(_mm256_unpackhi_epi32(__m256i(x.lo.v), __m256i(x.hi.v)))};
#else
  return {RawDoubles(_mm_unpacklo_epi32(__m128i(x.lo.v), __m128i(x.hi.v))),
          RawDoubles(_mm_unpackhi_epi32(__m128i(x.lo.v), __m128i(x.hi.v)))};
#endif
}
AE_LANES Longs longs_of(Doubles x) {
#if defined(AE_MASK_REGISTERS)
  const __m512 a = __m512(x.half[0]), b = __m512(x.half[1]);
  return {{RawWords(_mm512_shuffle_ps(a, b, 0x88))}, {RawWords(_mm512_shuffle_ps(a, b, 0xdd))}};
#elif defined(__AVX2__)
  const __m256 a = __m256(x.half[0]), b = __m256(x.half[1]);
  return {{RawWords(_mm256_shuffle_ps(a, b, 0x88))}, {RawWords(_mm256_shuffle_ps(a, b, 0xdd))}};
#else
  const __m128 a = __m128(x.half[0]), b = __m128(x.half[1]);
  return {{RawWords(_mm_shuffle_ps(a, b, 0x88))}, {RawWords(_mm_shuffle_ps(a, b, 0xdd))}};
#endif
}
AE_LANES DoubleTruth::operator Truth() const {
#if defined(AE_MASK_REGISTERS)
  const __m512d first = __m512d(_mm512_movm_epi64(half[0])), second = __m512d(_mm512_movm_epi64(half[1]));
  return {_mm512_movepi32_mask(__m512i(longs_of(Doubles(RawDoubles(first), RawDoubles(second))).lo.v))};
#else
  return {longs_of(Doubles(RawDoubles(half[0]), RawDoubles(half[1]))).lo.v};
#endif
}

// EXEC
// ----------------------------------------------------------------------------------------------------------------

/// How results get into a row: all of them, or blended under EXEC.
struct AllLanes {
  AE_LANES Truth among(Truth t, unsigned) const { return t; }
  AE_LANES void put(uint32_t* d, unsigned c, Words value) const { store_words(d, c, value); }
};
struct SomeLanes {
#if defined(AE_MASK_REGISTERS)
  uint64_t exec;
  AE_LANES Truth on(unsigned c) const { return truth_of(exec, c); }
#else
  const uint32_t* mask;
  AE_LANES Truth on(unsigned c) const { return {load_words(mask, c).v}; }
#endif
  AE_LANES Truth among(Truth t, unsigned c) const { return t & on(c); }
  AE_LANES void put(uint32_t* d, unsigned c, Words value) const {
    store_words(d, c, select(on(c), value, load_words(d, c)));
  }
};

/// Runs body(active) with the one that suits EXEC.
template <class Body> AE_LANES void under_exec(Wave& w, Body body) {
  const uint64_t exec = w.exec();
  if (exec == all_lanes) [[likely]] {
    body(AllLanes{});
  } else {
#if defined(AE_MASK_REGISTERS)
    body(SomeLanes{exec});
#else
    body(SomeLanes{active(w, exec).lane});
#endif
  }
}

} // namespace asmevo::machine::ASMEVO_ISA
