// Waits that are stronger than the dependences need.
//
// A compiler waits where its model of the counters is coarse: before a use it cannot tell apart, at block boundaries,
// before barriers. Every block's waits are taken out and the weakest ones that the dataflow wants are put back, as late
// as they may come. Nothing else changes, so this idea is only its list of blocks.
#include "search/drivers/rewrite/rules.h"

namespace asmevo::search::rewrite {

namespace {

bool has_wait(const Facts& facts, const analysis::Block& block) {
  for (size_t item = block.first; item < block.last; ++item)
    if (facts.is_instruction(item) && facts.instruction(item).traits.waitcnt) return true;
  return false;
}

} // namespace

std::vector<Idea> tighten_waits(const Facts& facts) {
  Idea everywhere;
  everywhere.rationale = "weakest waits that the dependences need, in the whole function";
  everywhere.promise = facts.heat_of(facts.function.first, facts.function.last);
  std::vector<Idea> ideas;
  for (uint32_t b = 0; b < facts.graph.blocks.size(); ++b) {
    const analysis::Block& block = facts.graph.blocks[b];
    if (!has_wait(facts, block)) continue;
    everywhere.blocks.push_back(b);
    Idea idea;
    idea.blocks = {b};
    idea.rationale = "weakest waits that the dependences need, in one block";
    idea.promise = facts.heat_of(block.first, block.last);
    ideas.push_back(std::move(idea));
  }
  if (everywhere.blocks.size() > 1) ideas.insert(ideas.begin(), std::move(everywhere));
  return ideas;
}

} // namespace asmevo::search::rewrite
