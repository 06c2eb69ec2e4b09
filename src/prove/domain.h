// The domain in which the machine's integer meanings (machine/semantics/meaning.h) become terms.
#pragma once

#include "machine/semantics/meaning.h"
#include "prove/term.h"

namespace asmevo::prove {

/// A truth, a word and a long: a term and the place where it lives.
struct Bit {
  Terms* terms;
  Id id;
};
template <uint8_t Width> struct Value {
  Terms* terms;
  Id id;
};
using Word = Value<32>;
using Long = Value<64>;

template <uint8_t W> Value<W> constant(Value<W> like, uint32_t value) {
  return {like.terms, like.terms->constant(W, value)};
}

#define AE_OPERATOR(symbol, function)                                                                                  \
  template <uint8_t W> Value<W> operator symbol(Value<W> a, Value<W> b) {                                              \
    return {a.terms, a.terms->function(a.id, b.id)};                                                                   \
  }                                                                                                                    \
  template <uint8_t W> Value<W> operator symbol(Value<W> a, uint32_t b) { return a symbol constant(a, b); }
AE_OPERATOR(+, add)
AE_OPERATOR(-, subtract)
AE_OPERATOR(*, multiply)
AE_OPERATOR(&, conjunction)
AE_OPERATOR(|, disjunction)
AE_OPERATOR(^, exclusive)
#undef AE_OPERATOR
template <uint8_t W> Value<W> operator~(Value<W> a) { return {a.terms, a.terms->complement(a.id)}; }

inline Bit operator&(Bit a, Bit b) { return {a.terms, a.terms->conjunction(a.id, b.id)}; }
inline Bit operator|(Bit a, Bit b) { return {a.terms, a.terms->disjunction(a.id, b.id)}; }
inline Bit operator^(Bit a, Bit b) { return {a.terms, a.terms->exclusive(a.id, b.id)}; }
inline Bit operator!(Bit a) { return {a.terms, a.terms->complement(a.id)}; }

template <uint8_t W> Value<W> shl(Value<W> a, Word n) { return {a.terms, a.terms->shift_left(a.id, n.id)}; }
template <uint8_t W> Value<W> shr(Value<W> a, Word n) { return {a.terms, a.terms->shift_right(a.id, n.id)}; }
template <uint8_t W> Value<W> sar(Value<W> a, Word n) { return {a.terms, a.terms->shift_arithmetic(a.id, n.id)}; }
template <uint8_t W> Value<W> shl(Value<W> a, uint32_t n) { return shl(a, Word{a.terms, a.terms->constant(32, n)}); }
template <uint8_t W> Value<W> shr(Value<W> a, uint32_t n) { return shr(a, Word{a.terms, a.terms->constant(32, n)}); }
template <uint8_t W> Value<W> sar(Value<W> a, uint32_t n) { return sar(a, Word{a.terms, a.terms->constant(32, n)}); }
template <uint8_t W> Value<W> select(Bit c, Value<W> a, Value<W> b) {
  return {a.terms, a.terms->choose(c.id, a.id, b.id)};
}
template <uint8_t W> Bit equal(Value<W> a, Value<W> b) { return {a.terms, a.terms->equal(a.id, b.id)}; }
template <uint8_t W> Bit below(Value<W> a, Value<W> b) { return {a.terms, a.terms->below(a.id, b.id)}; }
template <uint8_t W> Bit less(Value<W> a, Value<W> b) { return {a.terms, a.terms->less(a.id, b.id)}; }
inline Long zero_extend(Word a) { return {a.terms, a.terms->zero_extend(a.id)}; }
inline Long sign_extend(Word a) { return {a.terms, a.terms->sign_extend(a.id)}; }
inline Word low(Long a) { return {a.terms, a.terms->low(a.id)}; }
inline Word high(Long a) { return {a.terms, a.terms->high(a.id)}; }
inline Word as_word(Bit a) { return {a.terms, a.terms->word_of(a.id)}; }
inline Word count_ones(Word a) { return {a.terms, a.terms->unary(Kind::count_ones, a.id)}; }
inline Word leading_zeros(Word a) { return {a.terms, a.terms->unary(Kind::leading_zeros, a.id)}; }
inline Word trailing_zeros(Word a) { return {a.terms, a.terms->unary(Kind::trailing_zeros, a.id)}; }
inline Word reverse_bits(Word a) { return {a.terms, a.terms->unary(Kind::reverse_bits, a.id)}; }
template <uint8_t W> machine::meaning::Carried<Value<W>, Bit> carried(Value<W> value, Bit carry) {
  return {value, carry};
}

} // namespace asmevo::prove
