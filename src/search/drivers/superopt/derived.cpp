#include "search/drivers/superopt/derived.h"

#include <algorithm>
#include <bit>

namespace asmevo::search::superopt {
namespace {

constexpr size_t most_others = 24;

void add(std::vector<uint32_t>& list, uint32_t value, size_t most) {
  if (list.size() < most && std::ranges::find(list, value) == list.end()) list.push_back(value);
}

bool multiplies(const Opcode& opcode) {
  return opcode.name.find("_mul") != opcode.name.npos || opcode.name.find("_mad") != opcode.name.npos;
}

/// The positions of the ones of a number that has few: of `value`, and of what is one more or less.
void add_bit_positions(std::vector<uint32_t>& list, uint32_t value) {
  constexpr int most_ones = 2;
  constexpr size_t most = 4;
  for (uint32_t near : {value, value - 1, value + 1})
    if (std::popcount(near) <= most_ones)
      for (uint32_t rest = near; rest != 0; rest &= rest - 1)
        if (std::countr_zero(rest) != 0) add(list, uint32_t(std::countr_zero(rest)), most);
}

} // namespace

Derived derived_constants(const Sequence& window) {
  Derived derived;
  std::vector<uint32_t> constants;
  for (const Leaf& leaf : window.leaves) {
    if (leaf.abstract) return {}; // they would be functions of what is left open
    if (leaf.constant) constants.push_back(leaf.value);
  }
  for (const Step& step : window.steps) {
    if (!multiplies(*step.opcode)) continue;
    for (uint8_t k = 0; k < step.opcode->count; ++k)
      if (window.is_leaf(step.sources[k]) && window.leaves[step.sources[k]].constant)
        add_bit_positions(derived.factors, window.leaves[step.sources[k]].value);
  }
  std::vector<uint32_t>& others = derived.others;
  const auto note = [&](uint32_t value) { add(others, value, most_others); };
  for (uint32_t c : constants) {
    const auto ones = uint32_t(std::popcount(c));
    if ((c & (c + 1)) == 0 && c != 0) note(ones); // a mask: its width
    if (std::has_single_bit(c)) note(uint32_t(std::countr_zero(c)));
    for (uint32_t d : constants) {
      if (&c == &d) continue;
      note(c + d);
      note(c - d);
      note(c & d);
      note(c | d);
      if (d < 32) {
        note(c << d);
        note(c >> d);
        // Of a field that is shifted down and masked: its width and, for scalar instructions, both in one.
        if ((c & (c + 1)) == 0) note(d | ones << 16);
      }
      if (c < 32 && d < 32 && 32 >= c) note(32 - c);
    }
  }
  for (uint32_t c : constants) {
    if (c < 32) {
      note(32 - c);
      note(~0u >> c);
      note(~0u << c);
    }
    note(~c);
    note(0 - c);
    note(c * 2);
  }
  for (uint32_t plain : {0u, 1u, ~0u, 31u}) note(plain);
  return derived;
}

} // namespace asmevo::search::superopt
