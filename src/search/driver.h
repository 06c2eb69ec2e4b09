// Drivers propose, the controller decides. A driver sees a verified program and says which text to put where.
#pragma once

#include "gate/verdict.h"
#include "recover/program.h"
#include "timing/timing.h"

#include <random>

namespace asmevo::search {

/// What a driver may look at. Nothing in it can be changed.
struct State {
  const recover::Program* program = nullptr; // the verified version to improve
  const recover::Function* function = nullptr;
  const timing::Estimate* estimate = nullptr; // with attribution
  const machine::Image* image = nullptr;      // of that version; attribution is indexed by its instructions
  const isa::Codec* codec = nullptr;
  bool allow_float_rewrites = false; // the comparison policy of the launch has a floating-point tolerance
};

struct Proposal {
  std::vector<recover::Edit> edits;
  std::string rule;        // "tighten-waits"
  std::string rationale;   // one line
  bool auto_waits = false; // the gate puts in the waits and nops of the blocks that the edits touch
};

class Driver {
public:
  virtual ~Driver() = default;
  virtual std::string_view name() const = 0;
  /// The next proposal for `state`, or nothing when the driver has no more ideas for this program.
  virtual std::optional<Proposal> propose(const State& state, std::mt19937_64& random) = 0;
  /// The verdict on the last proposal.
  virtual void learn(const Proposal& proposal, const gate::Verdict& verdict) = 0;
};

} // namespace asmevo::search
