#include "prove/integer.h"

#include "machine/semantics/valu_compare.h"
#include "machine/semantics/valu_integer.h"
#include "prove/domain.h"

#include <map>

namespace asmevo::prove {
namespace {

using machine::Format;
namespace meaning = machine::meaning;

template <Format F> auto argument(Terms& terms, Id id) {
  if constexpr (F == Format::b64)
    return Long{&terms, id};
  else if constexpr (F == Format::mask)
    return Bit{&terms, id};
  else
    return Word{&terms, id};
}

template <uint8_t W> IntegerResult result_of(Value<W> value) { return {value.id, 0}; }
IntegerResult result_of(Bit value) { return {value.id, 0}; }
template <class T> IntegerResult result_of(meaning::Carried<T, Bit> value) { return {value.value.id, value.carry.id}; }

template <class Operands> struct Apply;

template <bool CarryOut, Format D, Format... S> struct Apply<meaning::ShapeOf<CarryOut, D, S...>> {
  template <class Meaning> static IntegerResult run(Terms& terms, std::span<const Id> sources) {
    return [&]<size_t... K>(std::index_sequence<K...>) {
      if constexpr (D == Format::p16) {
        const auto low_half = [&](Id id) { return Word{&terms, id} & 0xffffu; };
        const auto high_half = [&](Id id) { return shr(Word{&terms, id}, 16u); };
        const Word low = Meaning{}(low_half(sources[K])...) & 0xffffu;
        const Word high = shl(Meaning{}(high_half(sources[K])...), 16u);
        return result_of(low | high);
      } else if constexpr (D == Format::b16) {
        return result_of(Meaning{}(argument<S>(terms, sources[K])...) & 0xffffu);
      } else {
        return result_of(Meaning{}(argument<S>(terms, sources[K])...));
      }
    }(std::make_index_sequence<sizeof...(S)>{});
  }
  static constexpr IntegerMeaning description() {
    IntegerMeaning m{.destination = D, .sources = {}, .source_count = sizeof...(S), .carry_out = CarryOut};
    size_t k = 0;
    ((m.sources[k++] = S), ...);
    return m;
  }
};
template <class Operands> struct Apply<meaning::KeepsUpperHalf<Operands>> : Apply<Operands> {
  static constexpr IntegerMeaning description() {
    IntegerMeaning m = Apply<Operands>::description();
    m.keeps_upper_half = true;
    return m;
  }
};
/// v_dot2c and its kind: the shape has two sources, the meaning a third.
struct Accumulating : Apply<meaning::ShapeOf<false, Format::b32, Format::b32, Format::b32, Format::b32>> {
  static constexpr IntegerMeaning description() {
    IntegerMeaning m =
        Apply<meaning::ShapeOf<false, Format::b32, Format::b32, Format::b32, Format::b32>>::description();
    m.accumulates = true;
    return m;
  }
};

using Meanings = std::map<std::string_view, IntegerMeaning>;

template <class As, class Operands, class Meaning, class Saturated>
void add_entry(Meanings& meanings, const meaning::Entry<Operands, Meaning, Saturated>& entry, bool writes_exec) {
  IntegerMeaning m = As::description();
  m.writes_exec = writes_exec;
  m.plain = &As::template run<Meaning>;
  if constexpr (!std::is_void_v<Saturated>) m.clamped = &As::template run<Saturated>;
  meanings[entry.mnemonic] = m;
}

template <class... Entries>
void add_table(Meanings& meanings, const std::tuple<Entries...>& table, bool writes_exec = false) {
  const auto add = [&]<class O, class M, class S>(const meaning::Entry<O, M, S>& entry) {
    add_entry<Apply<O>>(meanings, entry, writes_exec);
  };
  std::apply([&](const auto&... entry) { (add(entry), ...); }, table);
}

Meanings all_meanings() {
  Meanings meanings;
  add_table(meanings, meaning::integer32);
  add_table(meanings, meaning::permutation);
  add_table(meanings, meaning::bytes_and_sums);
  add_table(meanings, meaning::half_dots);
  add_table(meanings, meaning::halves);
  add_table(meanings, meaning::packed_halves);
  add_table(meanings, meaning::wide);
  add_table(meanings, meaning::compares);
  add_table(meanings, meaning::exec_compares, true);
  const auto accumulating = [&]<class O, class M, class S>(const meaning::Entry<O, M, S>& entry) {
    add_entry<Accumulating>(meanings, entry, false);
  };
  std::apply([&](const auto&... entry) { (accumulating(entry), ...); }, meaning::accumulating_dots);
  return meanings;
}

} // namespace

const IntegerMeaning* integer_meaning(std::string_view mnemonic) {
  static const Meanings meanings = all_meanings();
  const auto found = meanings.find(mnemonic);
  return found == meanings.end() ? nullptr : &found->second;
}

} // namespace asmevo::prove
