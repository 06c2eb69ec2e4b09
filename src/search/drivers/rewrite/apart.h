// Loads and stores of a loop that are asked, before the loop is entered, whether they meet.
//
// A kernel may be given one buffer as input and as output, so a load must not pass a store of an earlier iteration, and
// with several iterations side by side every store stands in the way of all loads that follow it. But where both
// addresses move on by the same constant, how far they are apart does not change while the loop runs. So the distance
// is looked at once: where it is so small that a store would hit what a later iteration of the round loads, the loop
// runs as it was; where it is nothing (in place), or large, loads may go first.
//
// As everywhere in this catalogue, and in compilers, what is asked is asked for each lane (analysis/memory.h).
#pragma once

#include "analysis/dependence.h"
#include "search/drivers/rewrite/counted_loop.h"
#include "search/drivers/rewrite/steppers.h"

namespace asmevo::search::rewrite {

struct Apart {
  std::vector<isa::RegisterRange> store, load; // addresses: the loop's, and a second one that a round makes of it
};

struct ApartTest {
  std::vector<Apart> pairs;
  std::string lines; // goes to the label where loads must not go first
};

/// Nothing to ask, or no registers to ask with: no pairs.
ApartTest apart_test(const Facts& facts, const analysis::Block& block, const std::vector<Stepper>& steppers,
                     uint64_t times, const std::string& otherwise);

/// Takes out what keeps loads behind stores that they are apart from.
void forget_order(const recover::Program& program, analysis::DependenceGraph& graph, const std::vector<Apart>& pairs);

} // namespace asmevo::search::rewrite
