// The cheapest sequence that computes the same as a given one, as far as a bounded search sees.
//
// As in Souper and its ancestors: sequences are enumerated from short to long over the inputs, the constants and a few
// constants that follow from them. Each is computed for a batch of samples; what computes nothing new there is dropped,
// so that equal values are built on once. What agrees with the wanted result on all samples goes to the prover, the
// cheapest first, which decides. The last step of a longer sequence is not enumerated: where it can be undone, the
// value that it would need is looked up among those that are known.
//
// The search depends on nothing but the sequence and the bounds, which count candidates and not time. What it finds is
// a function of the normalised window, and so can be kept.
#pragma once

#include "search/drivers/superopt/sequence.h"

#include <chrono>

namespace asmevo::search::superopt {

struct Bounds {
  size_t candidates = 250'000;   // computed, for one window
  size_t proofs = 12;            // asked for, likewise
  size_t samples = sample_count; // that decide what is worth a proof
  std::chrono::milliseconds proof_limit{100};
};

struct Finding {
  std::optional<Sequence> replacement; // its first leaves are the window's
  size_t candidates = 0, refuted = 0;  // computed; agreed on the samples and were not proved
};

/// A sequence that costs less than `window` and was proved to compute the same for all inputs and abstract constants.
Finding find_cheaper(const Sequence& window, const Opcodes& opcodes, const Bounds& bounds);

/// Whether both compute the same, for all inputs. Leaves of `window` are the first ones of `replacement`.
bool proved_equal(const Sequence& window, const Sequence& replacement, std::chrono::milliseconds limit);

} // namespace asmevo::search::superopt
