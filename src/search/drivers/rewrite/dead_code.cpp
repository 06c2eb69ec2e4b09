// Work whose result nobody reads.
//
// Binaries keep dead work where the compiler's last passes made it: copies for a register that was coalesced away,
// guards of a range that cannot occur, halves of 64-bit results. `complete` removes dead instructions wherever an idea
// touches; this rule touches everything.
#include "search/drivers/rewrite/rules.h"

namespace asmevo::search::rewrite {

std::vector<Idea> remove_dead_code(const Facts& facts) {
  Idea idea;
  for (uint32_t b = 0; b < facts.graph.blocks.size(); ++b) idea.blocks.push_back(b);
  idea.rationale = "dead instructions and copies removed";
  idea.promise = facts.heat_of(facts.function.first, facts.function.last);
  return {idea};
}

} // namespace asmevo::search::rewrite
