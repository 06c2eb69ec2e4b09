// Matrix instructions first.
//
// Waves of a SIMD that run the same loop fall into step: all load, then all wait for the matrix pipe. A wave that is at
// its matrix instructions with a higher priority gets through them, and the others fill the rest of the turns with
// their loads and addresses.
#include "search/drivers/rewrite/counted_loop.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

bool sets_priority(const Facts& facts) {
  for (size_t item = facts.function.first; item < facts.function.last; ++item)
    if (facts.is_instruction(item) && isa::name_of(facts.instruction(item)) == "s_setprio") return true;
  return false;
}

} // namespace

std::vector<Idea> raise_priority(const Facts& facts) {
  if (sets_priority(facts)) return {}; // who wrote it has thought of it
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks) {
    if (label_of(facts, block).empty()) continue;
    std::optional<size_t> first, last;
    for (size_t item = block.first; item < block.last; ++item) {
      if (!facts.is_instruction(item) || !facts.instruction(item).traits.mfma) continue;
      if (!first) first = item;
      last = item;
    }
    if (!first || first == last) continue;
    ideas.push_back({{{*first, *first, "s_setprio 1\n"}, {*last + 1, *last + 1, "s_setprio 0\n"}},
                     {},
                     "matrix instructions of a loop at a higher priority",
                     facts.heat_of(*first, *last + 1)});
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
