// Meanings: what an integer instruction computes, written once for every domain.
//
// A meaning is a function of words that uses only the vocabulary below. On the machine a word is a uint32_t inside a
// loop over lanes; a prover calls the same function with bit-vector terms of its own. So meanings are captureless
// generic lambdas, and their types are the rows' identity. A domain supplies a 32-bit and a 64-bit type with + - * & |
// ^ and ~ (also against plain unsigned constants), a truth type with & | ^ and !, and the functions named here, which
// are found by argument-dependent lookup.
#pragma once

#include "machine/numeric/level.h"
#include "machine/registry.h"

#include <bit>
#include <tuple>

namespace asmevo::machine::meaning {
inline namespace ASMEVO_LEVEL {

#define AE_WORD [[gnu::always_inline]] constexpr

/// A result and the carry that goes with it.
template <class Word, class Bit> struct Carried {
  Word value;
  Bit carry;
};

// The machine's domain: one lane. Shift amounts are already reduced to the width.
AE_WORD uint32_t shl(uint32_t a, uint32_t n) { return a << n; }
AE_WORD uint32_t shr(uint32_t a, uint32_t n) { return a >> n; }
AE_WORD uint32_t sar(uint32_t a, uint32_t n) { return uint32_t(int32_t(a) >> n); }
AE_WORD uint64_t shl(uint64_t a, uint32_t n) { return a << n; }
AE_WORD uint64_t shr(uint64_t a, uint32_t n) { return a >> n; }
AE_WORD uint64_t sar(uint64_t a, uint32_t n) { return uint64_t(int64_t(a) >> n); }
/// A constant of the domain that `like` belongs to.
AE_WORD uint32_t constant(uint32_t, uint32_t value) { return value; }
AE_WORD uint64_t constant(uint64_t, uint32_t value) { return value; }
AE_WORD uint32_t select(bool c, uint32_t a, uint32_t b) { return c ? a : b; }
AE_WORD uint64_t select(bool c, uint64_t a, uint64_t b) { return c ? a : b; }
AE_WORD bool equal(uint32_t a, uint32_t b) { return a == b; }
AE_WORD bool equal(uint64_t a, uint64_t b) { return a == b; }
AE_WORD bool below(uint32_t a, uint32_t b) { return a < b; } // unsigned
AE_WORD bool below(uint64_t a, uint64_t b) { return a < b; }
AE_WORD bool less(uint32_t a, uint32_t b) { return int32_t(a) < int32_t(b); } // signed
AE_WORD bool less(uint64_t a, uint64_t b) { return int64_t(a) < int64_t(b); }
AE_WORD uint64_t zero_extend(uint32_t a) { return a; }
AE_WORD uint64_t sign_extend(uint32_t a) { return uint64_t(int64_t(int32_t(a))); }
AE_WORD uint32_t low(uint64_t a) { return uint32_t(a); }
AE_WORD uint32_t high(uint64_t a) { return uint32_t(a >> 32); }
AE_WORD uint32_t as_word(bool c) { return c; }
// The usual tricks, for a word or a vector of words.
template <class W> AE_WORD W ones(W a) {
  a = a - (a >> 1 & 0x55555555u);
  a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
  a = (a + (a >> 4)) & 0x0f0f0f0fu;
  return a * 0x01010101u >> 24;
}
template <class W> AE_WORD W zeros_in_front(W a) {
  a |= a >> 1, a |= a >> 2, a |= a >> 4, a |= a >> 8, a |= a >> 16;
  return 32u - ones(a);
}
template <class W> AE_WORD W reversed(W a) {
  a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
  a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
  a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
  a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
  return a >> 16 | a << 16;
}
AE_WORD uint32_t count_ones(uint32_t a) { return ones(a); }
/// Position of the highest one counted from the top; 32 for zero.
AE_WORD uint32_t leading_zeros(uint32_t a) { return zeros_in_front(a); }
AE_WORD uint32_t trailing_zeros(uint32_t a) { return ones(~a & (a - 1)); }
AE_WORD uint32_t reverse_bits(uint32_t a) { return reversed(a); }
AE_WORD Carried<uint32_t, bool> carried(uint32_t value, bool carry) { return {value, carry}; }
AE_WORD Carried<uint64_t, bool> carried(uint64_t value, bool carry) { return {value, carry}; }

// Combinations that any domain can share.
template <unsigned First, unsigned Width> AE_WORD auto bits(auto a) { return shr(a, First) & ((1u << Width) - 1); }
/// The low Width bits of a word, as a signed number.
template <unsigned Width> AE_WORD auto signed_low(auto a) { return sar(shl(a, 32 - Width), 32 - Width); }
template <unsigned First, unsigned Width> AE_WORD auto signed_bits(auto a) {
  return sar(shl(a, 32 - First - Width), 32 - Width);
}
AE_WORD auto umin(auto a, decltype(a) b) { return select(below(a, b), a, b); }
AE_WORD auto umax(auto a, decltype(a) b) { return select(below(a, b), b, a); }
AE_WORD auto smin(auto a, decltype(a) b) { return select(less(a, b), a, b); }
AE_WORD auto smax(auto a, decltype(a) b) { return select(less(a, b), b, a); }
AE_WORD auto absolute_difference(auto a, decltype(a) b) { return select(below(a, b), b - a, a - b); }

/// What the operands of an instruction are, known to the compiler. The formats that integer meanings use:
///   b32   a word                      b64   a 64-bit word
///   b16   a word below 65536; the upper half of a result is cut off
///   p16   two halves of a row; the meaning is applied to each as to b16
///   mask  the lane's truth
template <bool CarryOut, Format D, Format... S> struct ShapeOf {
  static constexpr Signature signature = {D, {S...}, CarryOut, false};
};
template <Format D, Format... S> inline constexpr ShapeOf<false, D, S...> shape;
/// The meaning returns Carried: the carry goes to the scalar destination.
template <Format D, Format... S> inline constexpr ShapeOf<true, D, S...> carry_shape;

/// A 16-bit result that leaves the upper half of its register as it was. Of the GFX9 instructions those that VOP3 alone
/// encodes do; the older ones clear it (LLVM: GCNSubtarget::zeroesHigh16BitsOfDest).
template <class Operands> struct KeepsUpperHalf : Operands {};
template <Format D, Format... S> inline constexpr KeepsUpperHalf<ShapeOf<false, D, S...>> keeping_shape;

/// One row. `Saturated` is the meaning under the clamp modifier; void where clamp does not apply.
template <class Operands, class Meaning, class Saturated> struct Entry {
  std::string_view mnemonic;
  TargetMask targets = on_all;
};

template <class Operands, class Meaning>
consteval Entry<Operands, Meaning, void> op(std::string_view mnemonic, Operands, Meaning, TargetMask on = on_all) {
  return {mnemonic, on};
}
/// With a second meaning for clamp.
template <class Operands, class Meaning, class Saturated> consteval Entry<Operands, Meaning, Saturated>
op_sat(std::string_view mnemonic, Operands, Meaning, Saturated, TargetMask on = on_all) {
  return {mnemonic, on};
}
template <class... Entries> consteval std::tuple<Entries...> table(Entries... entries) { return {entries...}; }

} // namespace ASMEVO_LEVEL
} // namespace asmevo::machine::meaning
