// Do two programs compute the same? The strongest answer that equivalence has: for all inputs, not for those that ran.
//
// The programs are laid beside each other at their labels. Between two labels that correspond lies a region that is
// entered at its top alone; where its items are the same in both there is nothing to show. The others are executed on
// terms, both from the same unknown state, and must agree on the registers that are live where they leave, on the
// conditions under which they leave for each label, and on the memory accesses in between. Loops need nothing more:
// their heads are labels, and what holds from label to label holds along every path.
//
// The answer is `proved`, or `refuted` with a state in which the two really differ (both windows were run on the
// simulated machine), or `unknown` with the reason. A wrong `proved` would be worse than any number of unknowns: what
// is not understood is unknown.
#pragma once

#include "prove/execute.h"
#include "recover/program.h"

#include <chrono>

namespace asmevo::prove {

enum class Outcome : uint8_t { proved, refuted, unknown };

std::string_view outcome_name(Outcome outcome);

/// What one call of prove() may cost, in measures that do not depend on how busy the machine is. Behind that the answer
/// is unknown: too large.
struct Effort {
  size_t terms = 300'000;         // at a time
  uint64_t steps = 60'000'000;    // with them, in all: between one and two seconds of an idle core
  unsigned unanswered = 8;        // questions that the solver gave no answer to, in all
  size_t question_terms = 20'000; // that the solver is told of, in one region
};

struct Policy {
  FloatRules floats;
  analysis::AliasPolicy aliases;
  /// Of one question to the solver, as steps that take about so long on an idle core. 0: it is not asked.
  std::chrono::milliseconds solver_limit{2000};
  Effort effort;
};

/// Items [first, last) of either program, from one pair of corresponding labels to the next.
struct Region {
  size_t first[2] = {0, 0}, last[2] = {0, 0};
};

struct Proof {
  Outcome outcome = Outcome::unknown;
  /// unknown: why. refuted: what differs, and in which state.
  std::string reason;
  /// The proof holds for waves all of whose 64 lanes are active when the kernel begins; else for every wave.
  bool full_waves = false;
  std::string function;   // where the reason lies
  Region region;          // likewise
  size_t regions = 0;     // that differ and were looked at
  unsigned questions = 0; // to the solver

  bool holds() const { return outcome == Outcome::proved; }
};

class Cache; // cache.h

/// Compares all functions of two programs, or one kernel. Both must be for the same target. What is found about regions
/// is looked up in `cache` and kept there, where one is given.
Proof prove(const recover::Program& original, const recover::Program& candidate, const Policy& policy,
            std::string_view kernel = {}, Cache* cache = nullptr);

/// What running both versions from random states shows.
struct Trial {
  bool ran = false;                      // every region that differs could be run
  std::optional<std::string> difference; // a state in which the two differ
};

/// Runs the regions that differ on the simulated machine. Nothing is proved; nothing found says little.
Trial try_runs(const recover::Program& original, const recover::Program& candidate, std::string_view kernel,
               unsigned attempts);

} // namespace asmevo::prove
