// A suspicion put to the test: both versions of a window really run, on the simulated machine, from one state.
//
// What two terms look like in some possible world is no counterexample yet: uninterpreted functions may do there what
// no instruction does. So the state of that world (registers, and the memory that loads see) is given to a wave, the
// two windows run, and only what then differs in registers that are read later, or in memory, is a difference.
#pragma once

#include "prove/evaluate.h"
#include "prove/prove.h"

namespace asmevo::prove {

struct Windows {
  const recover::Program* program[2];
  Region region;                    // straight code: branches and ends of programs only as a common last instruction
  analysis::RegisterSet live;       // behind the windows
  const Registers* entry = nullptr; // symbols, or constants where the state is assumed to be so
};

/// The difference in words, with the state; nothing where the two agree, or where such a window cannot be run.
std::optional<std::string> confirmed_difference(Shared& shared, const Windows& windows, World& world);

/// Whether such a window can be run at all.
bool can_be_run(const Windows& windows);

/// Items of one version that are executed: without a last branch or end that both have.
std::vector<size_t> executed_items(const recover::Program& program, size_t first, size_t last);

} // namespace asmevo::prove
