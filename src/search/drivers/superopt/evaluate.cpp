// The machine's meanings for a batch of samples.
#include "machine/semantics/valu_integer.h"
#include "search/drivers/superopt/opcode.h"

namespace asmevo::search::superopt {
namespace {

namespace meaning = machine::meaning;
using machine::Format;

template <Format F> auto argument(uint64_t value) {
  if constexpr (F == Format::b64)
    return value;
  else if constexpr (F == Format::mask)
    return value != 0;
  else
    return uint32_t(value);
}

template <class T> uint64_t result_of(T value) { return value; }
template <class T> uint64_t result_of(meaning::Carried<T, bool> value) { return value.value; }

template <class Operands> struct Apply;
template <bool CarryOut, Format D, Format... S> struct Apply<meaning::ShapeOf<CarryOut, D, S...>> {
  static constexpr bool plain = ((S != Format::b16 && S != Format::p16) && ...) && D != Format::b16 && D != Format::p16;

  template <class Meaning> static void run(const Samples* const* sources, Samples& result) {
    [&]<size_t... K>(std::index_sequence<K...>) {
      for (size_t k = 0; k < sample_count; ++k) result.of[k] = result_of(Meaning{}(argument<S>(sources[K]->of[k])...));
    }(std::make_index_sequence<sizeof...(S)>{});
  }
};

using Table = std::map<std::string_view, Evaluate>;

template <class... Entries> void add(Table& table, const std::tuple<Entries...>& entries) {
  const auto one = [&]<class O, class M, class S>(const meaning::Entry<O, M, S>& entry) {
    if constexpr (requires { Apply<O>::plain; })
      if constexpr (Apply<O>::plain) table[entry.mnemonic] = &Apply<O>::template run<M>;
  };
  std::apply([&](const auto&... entry) { (one(entry), ...); }, entries);
}

Table all() {
  Table table;
  add(table, meaning::integer32);
  add(table, meaning::permutation);
  add(table, meaning::bytes_and_sums);
  add(table, meaning::wide);
  table["v_mov_b32"] = [](const Samples* const* sources, Samples& result) { result = *sources[0]; };
  return table;
}

} // namespace

Evaluate evaluation_of(std::string_view vector_name) {
  static const Table table = all();
  const auto found = table.find(vector_name);
  return found == table.end() ? nullptr : found->second;
}

} // namespace asmevo::search::superopt
