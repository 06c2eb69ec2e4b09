// Two versions of a few lines of assembly, and what the prover says about them.
#pragma once

#include "../analysis/assemble.h"
#include "prove/prove.h"

namespace asmevo::prove {

using analysis::assemble;

inline Proof proof_of(const std::string& before, const std::string& after, const Policy& policy = {},
                      isa::Processor processor = isa::Processor::gfx942) {
  return prove(assemble(before, processor), assemble(after, processor), policy);
}

inline testing::AssertionResult proved(const std::string& before, const std::string& after, const Policy& policy = {}) {
  const Proof proof = proof_of(before, after, policy);
  if (proof.outcome == Outcome::proved) return testing::AssertionSuccess();
  return testing::AssertionFailure() << outcome_name(proof.outcome) << ": " << proof.reason;
}

} // namespace asmevo::prove
