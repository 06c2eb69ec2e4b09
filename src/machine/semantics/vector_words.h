// The vocabulary of integer meanings (meaning.h) for vectors of lanes: the machine's second domain. A 64-bit word is
// two vectors, so that nothing is interleaved and a carry is a comparison; a truth is a mask.
#pragma once

#include "machine/semantics/meaning.h"
#include "machine/semantics/vectors.h"

namespace asmevo::machine::ASMEVO_ISA {

AE_LANES Words constant(Words, uint32_t value) { return words(value); }
AE_LANES Words shl(Words a, Words n) { return shifted_left(a, n); }
AE_LANES Words shr(Words a, Words n) { return shifted_right(a, n); }
AE_LANES Words sar(Words a, Words n) { return shifted_right_signed(a, n); }
AE_LANES Words shl(Words a, uint32_t n) { return {a.v << n}; }
AE_LANES Words shr(Words a, uint32_t n) { return {a.v >> n}; }
AE_LANES Words sar(Words a, uint32_t n) { return {RawWords(RawIntegers(a.v) >> int(n))}; }
AE_LANES Words as_word(Truth t) { return select(t, words(1), words(0)); }
AE_LANES Words count_ones(Words a) { return {meaning::ones(a.v)}; }
AE_LANES Words leading_zeros(Words a) { return {meaning::zeros_in_front(a.v)}; }
AE_LANES Words trailing_zeros(Words a) { return {meaning::ones(~a.v & (a.v - 1u))}; }
AE_LANES Words reverse_bits(Words a) { return {meaning::reversed(a.v)}; }

/// The upper half of the 64-bit product.
AE_LANES Words multiply_high(Words a, Words b) {
#if defined(AE_MASK_REGISTERS)
  const __m512i x = __m512i(a.v), y = __m512i(b.v);
  const __m512i even = _mm512_mul_epu32(x, y),
                odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), _mm512_srli_epi64(y, 32));
  return {RawWords(_mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd))};
#elif defined(__AVX2__)
  const __m256i x = __m256i(a.v), y = __m256i(b.v);
  const __m256i even = _mm256_mul_epu32(x, y),
                odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(y, 32));
  return {RawWords(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa))};
#else
  for (unsigned i = 0; i < vector_lanes; ++i) a.v[i] = uint32_t(uint64_t{a.v[i]} * b.v[i] >> 32);
  return a;
#endif
}

AE_LANES Longs constant(Longs, uint32_t value) { return {words(value), words(0)}; }
AE_LANES Longs zero_extend(Words a) { return {a, words(0)}; }
AE_LANES Longs sign_extend(Words a) { return {a, sar(a, 31u)}; }
AE_LANES Words low(Longs a) { return a.lo; }
AE_LANES Words high(Longs a) { return a.hi; }
AE_LANES Longs operator+(Longs a, Longs b) {
  const Words lo = a.lo + b.lo;
  return {lo, a.hi + b.hi + as_word(below(lo, a.lo))};
}
AE_LANES Longs operator-(Longs a, Longs b) { return {a.lo - b.lo, a.hi - b.hi - as_word(below(a.lo, b.lo))}; }
AE_LANES Longs operator*(Longs a, Longs b) {
  return {a.lo * b.lo, multiply_high(a.lo, b.lo) + a.lo * b.hi + a.hi * b.lo};
}
AE_LANES Longs operator&(Longs a, Longs b) { return {a.lo & b.lo, a.hi & b.hi}; }
AE_LANES Longs operator|(Longs a, Longs b) { return {a.lo | b.lo, a.hi | b.hi}; }
AE_LANES Longs operator^(Longs a, Longs b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
AE_LANES Longs operator~(Longs a) { return {~a.lo, ~a.hi}; }
AE_LANES Longs operator+(Longs a, uint32_t b) { return a + constant(a, b); }
AE_LANES Longs operator-(Longs a, uint32_t b) { return a - constant(a, b); }
AE_LANES Longs operator*(Longs a, uint32_t b) { return a * constant(a, b); }
AE_LANES Longs operator&(Longs a, uint32_t b) { return a & constant(a, b); }
AE_LANES Longs operator|(Longs a, uint32_t b) { return a | constant(a, b); }
AE_LANES Longs operator^(Longs a, uint32_t b) { return a ^ constant(a, b); }
AE_LANES Longs select(Truth t, Longs a, Longs b) { return {select(t, a.lo, b.lo), select(t, a.hi, b.hi)}; }
AE_LANES Truth equal(Longs a, Longs b) { return equal(a.lo, b.lo) & equal(a.hi, b.hi); }
AE_LANES Truth below(Longs a, Longs b) { return below(a.hi, b.hi) | (equal(a.hi, b.hi) & below(a.lo, b.lo)); }
AE_LANES Truth less(Longs a, Longs b) { return less(a.hi, b.hi) | (equal(a.hi, b.hi) & below(a.lo, b.lo)); }

// A shift by n moves bits between the halves: of 32 - n below 32, of n - 32 from there on. Whichever does not apply is
// a huge unsigned number, by which everything is shifted out.
AE_LANES Longs shl(Longs a, Words n) {
  const Words across = shifted_right(a.lo, words(32) - n) | shifted_left(a.lo, n - 32u);
  return {shifted_left(a.lo, n), shifted_left(a.hi, n) | across};
}
AE_LANES Longs shr(Longs a, Words n) {
  const Words across = shifted_left(a.hi, words(32) - n) | shifted_right(a.hi, n - 32u);
  return {shifted_right(a.lo, n) | across, shifted_right(a.hi, n)};
}
AE_LANES Longs sar(Longs a, Words n) {
  const Words near = shifted_right(a.lo, n) | shifted_left(a.hi, words(32) - n);
  return {select(below(n, words(32)), near, shifted_right_signed(a.hi, n - 32u)), shifted_right_signed(a.hi, n)};
}
AE_LANES Longs shl(Longs a, uint32_t n) { return shl(a, words(n)); }
AE_LANES Longs shr(Longs a, uint32_t n) { return shr(a, words(n)); }
AE_LANES Longs sar(Longs a, uint32_t n) { return sar(a, words(n)); }

AE_LANES meaning::Carried<Words, Truth> carried(Words value, Truth carry) { return {value, carry}; }
AE_LANES meaning::Carried<Longs, Truth> carried(Longs value, Truth carry) { return {value, carry}; }

/// A source of a known format, read vector by vector.
template <Format F> struct Source {
  const uint32_t* lane;
  AE_LANES Source(Wave& w, const Op& op, unsigned k) : lane(row(w, op.src[k])->lane) {}
  AE_LANES Words operator[](unsigned c) const {
    return F == Format::b16 ? load_words(lane, c) & 0xffffu : load_words(lane, c);
  }
};
template <> struct Source<Format::b64> {
  const Row* rows;
  AE_LANES Source(Wave& w, const Op& op, unsigned k) : rows(row(w, op.src[k])) {}
  AE_LANES Longs operator[](unsigned c) const { return {load_words(rows[0].lane, c), load_words(rows[1].lane, c)}; }
};
template <> struct Source<Format::mask> {
  uint64_t bits;
  AE_LANES Source(Wave& w, const Op& op, unsigned k) : bits(scalar64(w, op.ssrc[k])) {}
  AE_LANES Truth operator[](unsigned c) const { return truth_of(bits, c); }
};

/// The bits of the active lanes of vector after vector, 0 elsewhere: what a compare writes.
template <class F> AE_LANES uint64_t each_vector_bit(Wave& w, F f) {
  uint64_t bits = 0;
  AE_EACH_VECTOR bits |= bits_of(f(c)) << (c * vector_lanes);
  return bits & w.exec();
}

} // namespace asmevo::machine::ASMEVO_ISA
