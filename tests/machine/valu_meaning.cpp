// The integer meanings belong to no domain. Here they run over a domain that offers the documented vocabulary and
// nothing else (no conversions, no comparisons by operator), as a prover's terms would, and agree with the machine.
#include "valu_fixture.h"

#include "machine/semantics/valu_compare.h"
#include "machine/semantics/valu_integer.h"

namespace asmevo::machine {
namespace symbolic {

struct Bit {
  bool value;
};
template <class Bits> struct Term {
  Bits value;
};
using Word = Term<uint32_t>;
using Long = Term<uint64_t>;

#define AE_OPERATOR(symbol)                                                                                            \
  template <class B> Term<B> operator symbol(Term<B> a, Term<B> b) { return {B(a.value symbol b.value)}; }             \
  template <class B> Term<B> operator symbol(Term<B> a, uint32_t b) { return {B(a.value symbol b)}; }
AE_OPERATOR(+)
AE_OPERATOR(-)
AE_OPERATOR(*)
AE_OPERATOR(&)
AE_OPERATOR(|) AE_OPERATOR(^)
#undef AE_OPERATOR
    template <class B>
    Term<B> operator~(Term<B> a) {
  return {B(~a.value)};
}
Bit operator&(Bit a, Bit b) { return {a.value && b.value}; }
Bit operator|(Bit a, Bit b) { return {a.value || b.value}; }
Bit operator^(Bit a, Bit b) { return {a.value != b.value}; }
Bit operator!(Bit a) { return {!a.value}; }

// Shift amounts are words or plain constants.
template <class B> Term<B> shl(Term<B> a, Word n) { return {meaning::shl(a.value, n.value)}; }
template <class B> Term<B> shr(Term<B> a, Word n) { return {meaning::shr(a.value, n.value)}; }
template <class B> Term<B> sar(Term<B> a, Word n) { return {meaning::sar(a.value, n.value)}; }
template <class B> Term<B> shl(Term<B> a, uint32_t n) { return {meaning::shl(a.value, n)}; }
template <class B> Term<B> shr(Term<B> a, uint32_t n) { return {meaning::shr(a.value, n)}; }
template <class B> Term<B> sar(Term<B> a, uint32_t n) { return {meaning::sar(a.value, n)}; }
template <class B> Term<B> constant(Term<B>, uint32_t value) { return {value}; }
template <class B> Term<B> select(Bit c, Term<B> a, Term<B> b) { return c.value ? a : b; }
template <class B> Bit equal(Term<B> a, Term<B> b) { return {a.value == b.value}; }
template <class B> Bit below(Term<B> a, Term<B> b) { return {meaning::below(a.value, b.value)}; }
template <class B> Bit less(Term<B> a, Term<B> b) { return {meaning::less(a.value, b.value)}; }
Long zero_extend(Word a) { return {a.value}; }
Long sign_extend(Word a) { return {meaning::sign_extend(a.value)}; }
Word low(Long a) { return {uint32_t(a.value)}; }
Word high(Long a) { return {uint32_t(a.value >> 32)}; }
Word as_word(Bit c) { return {c.value}; }
Word count_ones(Word a) { return {meaning::count_ones(a.value)}; }
Word leading_zeros(Word a) { return {meaning::leading_zeros(a.value)}; }
Word trailing_zeros(Word a) { return {meaning::trailing_zeros(a.value)}; }
Word reverse_bits(Word a) { return {meaning::reverse_bits(a.value)}; }
template <class B> meaning::Carried<Term<B>, Bit> carried(Term<B> value, Bit carry) { return {value, carry}; }

} // namespace symbolic

namespace {

template <Format F> auto argument(uint64_t value) {
  if constexpr (F == Format::b64)
    return symbolic::Long{value};
  else if constexpr (F == Format::mask)
    return symbolic::Bit{(value & 1) != 0};
  else
    return symbolic::Word{F == Format::b16 || F == Format::p16 ? uint32_t(value) & 0xffff : uint32_t(value)};
}
template <class B> uint64_t plain(symbolic::Term<B> t) { return t.value; }
uint64_t plain(symbolic::Bit b) { return b.value; }
template <class T, class B> uint64_t plain(meaning::Carried<T, B> c) { return plain(c.value); }

template <class Operands> struct Apply;
template <bool Carry, Format D, Format... S> struct Apply<meaning::ShapeOf<Carry, D, S...>> {
  /// The meaning over terms, against the machine's handler on the same operands.
  template <class Meaning> static void check(std::string_view mnemonic, TargetMask on) {
    std::mt19937 random(9);
    const auto processor = on & on_gfx942   ? isa::Processor::gfx942
                           : on & on_gfx950 ? isa::Processor::gfx950
                                            : isa::Processor::gfx908;
    Lanes lanes;
    uint64_t masks[3];
    for (unsigned k = 0; k < 3; ++k) {
      masks[k] = uint64_t{random()} << 32 | random();
      lanes.wave.write64(Lanes::mask_source + 2 * k, masks[k]);
      for (unsigned i = 0; i < machine::lanes; ++i)
        lanes.set(k, i,
                  uint64_t{interesting_word(random)} << 32 |
                      (interesting_word(random) & (D == Format::p16 ? 0xffffu : ~0u)));
    }
    lanes.run(mnemonic, processor);
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const uint64_t got = D == Format::b64    ? lanes.result64(i)
                           : D == Format::mask ? lanes.mask() >> i & 1
                                               : lanes.result().lane[i];
      uint64_t expected = [&]<size_t... K>(std::index_sequence<K...>) {
        const auto operand = [&](size_t k, Format f) {
          return f == Format::mask ? masks[k] >> i & 1
                                   : uint64_t{lanes.source(k, 1).lane[i]} << 32 | lanes.source(k).lane[i];
        };
        return plain(Meaning{}(argument<S>(operand(K, S))...));
      }(std::make_index_sequence<sizeof...(S)>{});
      if (D == Format::b16 || D == Format::p16) expected &= 0xffff;
      ASSERT_EQ(D == Format::p16 ? got & 0xffff : got, expected) << mnemonic;
    }
  }
};
template <class Operands> struct Apply<meaning::KeepsUpperHalf<Operands>> : Apply<Operands> {};

template <class Operands, class Meaning, class Saturated>
void check_entry(const meaning::Entry<Operands, Meaning, Saturated>& entry) {
  Apply<Operands>::template check<Meaning>(entry.mnemonic, entry.targets);
}
template <class... Entries> void check_table(const std::tuple<Entries...>& table) {
  std::apply([](const auto&... entry) { (check_entry(entry), ...); }, table);
}

TEST(ValuMeaning, the_same_definitions_run_on_terms_and_on_lanes) {
  check_table(meaning::integer32);
  check_table(meaning::permutation);
  check_table(meaning::bytes_and_sums);
  check_table(meaning::half_dots);
  check_table(meaning::halves);
  check_table(meaning::packed_halves);
  check_table(meaning::wide);
  check_table(meaning::compares);
}

} // namespace
} // namespace asmevo::machine
