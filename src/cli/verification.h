// A code object of the user's against K0: as the gate does it, with a seed of its own.
#pragma once

#include "cli/setting.h"
#include "gate/strength.h"

namespace asmevo::cli {

struct Verification {
  oracle::Judgement judgement;
  std::optional<std::string> difference; // of the ABI: then nothing was run
  std::vector<std::string> notes;        // facts about K0 and the policy
  machine::Fidelity fidelity;
  std::string device;
  uint64_t seed = 0;
  device::Loaded loaded;                                     // the candidate
  gate::Equivalence equivalence = gate::Equivalence::tested; // where it holds
  std::string strength;                                      // why it is no more, or what was proved; lines

  bool holds() const { return !difference && judgement.finding == oracle::Finding::equivalent; }
};

/// `proof_limit`: strict mode and the prover are asked too (gate/strength.h), with so many milliseconds for a question
/// to the solver. What the candidate adds to K0's findings in strict mode is a runtime fault.
/// Errors: `path` is no code object for K0's target; K0 is not fit to be an oracle.
Result<Verification> verify_file(Setting& setting, const std::string& path, uint64_t seed, const volatile bool* stop,
                                 std::optional<uint64_t> proof_limit = {});

} // namespace asmevo::cli
