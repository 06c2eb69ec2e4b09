// How strongly a candidate that passed the tests is known to equal K0.
//
// Tests speak for the inputs that ran. Two more questions are asked of a version before it is kept. Strict mode runs
// the cases again and looks for what was right by luck: a wait or wait state that is missing on a path that waves take,
// a race, a register that nothing wrote. What K0 has of these is a fact about K0; what a candidate adds is a fault. And
// the prover asks whether the regions that differ compute the same for all inputs. Neither replaces a test: each starts
// from what passed.
#pragma once

#include "gate/verdict.h"
#include "oracle/oracle.h"
#include "prove/cache.h"

namespace asmevo::gate {

/// Strict mode's findings by the mnemonics of both instructions, with how many there are: an edit renames registers and
/// moves everything behind it.
using StrictCounts = std::map<std::string, unsigned>;

/// One object in strict mode, on all cases.
struct StrictRun {
  StrictCounts counts;                                       // the most of any case
  std::vector<std::pair<std::string, std::string>> findings; // what it is counted as, and the finding with its case
  std::string gap;                                           // what was not watched
  std::string unended;                                       // the case in which it did not come to its end, and why
};

/// What one worker keeps between examinations.
struct Examination {
  prove::Policy proofs{.solver_limit = std::chrono::milliseconds(200)}; // 0: nothing is asked of the solver
  prove::Cache cache;
  std::optional<StrictRun> original; // K0, once it has run
};

/// Cases in which K0 executes more wave-instructions are not run in strict mode, which takes one thread.
inline constexpr uint64_t strict_limit = 200'000'000;

struct StrictResult {
  std::string fault; // what the candidate adds to K0's findings; empty where it adds nothing
  std::string gap;   // why nothing is known, if so
  bool clean() const { return fault.empty() && gap.empty(); }
};

/// Runs both on all cases as the launch gives them. Nothing where `stop` was set.
/// Errors: K0 does not run.
Result<std::optional<StrictResult>> run_strict(device::Device& device, oracle::Reference& reference,
                                               const device::Loaded& candidate, const isa::Codec& codec,
                                               Examination& examination, const volatile bool* stop);

struct ProofResult {
  bool holds = false;
  std::string text;           // "2 regions differ and compute the same", or why that is not known
  std::string counterexample; // a state of a region in which both were run and differ; else empty
};
/// "proved: ...", "not proved: ...", "not proved: a region differs in some state (...)".
std::string proof_line(const ProofResult& proof);

/// Whether the kernel computes the same for all inputs. A proof that speaks of full waves alone holds where all cases
/// launch such.
ProofResult examine_proof(const recover::Program& original, const recover::Program& candidate,
                          const std::string& kernel, const launch::Launch& launch, Examination& examination);

} // namespace asmevo::gate
