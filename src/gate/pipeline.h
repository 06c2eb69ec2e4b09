// The gate: build, static, equivalence, timing, in this order.
//
// A candidate is text that anyone may have written. The gate turns it into an object, compares the object's outside
// with K0's, looks for waits and hazards that K0 does not have, runs it against K0, and only then times it. The order
// is the cheap and certain before the costly and empirical, and correctness strictly before time: the timing stage
// takes a Verified, and only the equivalence stage can make one. What is fast enough to be kept is then verified again,
// watched in strict mode, and proved where that is possible.
//
// Every stage either passes its value on or halts with a verdict. A candidate's fault is a verdict; an Error is only
// what says nothing about the candidate (the device is gone, K0 no longer runs).
#pragma once

#include "gate/commit.h"
#include "gate/duplicates.h"
#include "gate/original.h"
#include "gate/strength.h"
#include "gate/verdict.h"
#include "oracle/oracle.h"

#include <functional>
#include <variant>

namespace asmevo::gate {

/// A verified version and what a driver wants changed in it.
struct Edited {
  const recover::Program* program = nullptr;
  std::vector<recover::Edit> edits;
  bool auto_waits = false; // the waits and nops of the touched blocks are put in by the gate
};
/// A whole listing.
struct Listing {
  std::string text;
};
using Candidate = std::variant<Edited, Listing>;

struct Settings {
  CommitRule rule;
  unsigned draws = 16;
  uint64_t seed = 0;
  uint64_t proof_limit = 200; // of one question to the solver, in milliseconds of an idle core; 0: nothing is proved
};

/// What one worker evaluates with. Original and settings are shared; the rest belongs to one thread.
struct Bench {
  const Original* original = nullptr;
  const isa::Codec* codec = nullptr;
  device::Device* device = nullptr;
  oracle::Reference* reference = nullptr;
  Settings settings;
  const volatile bool* stop = nullptr;
  /// Told the name of each stage as it begins, for whoever shows progress: "build", "static", "equivalence", "timing",
  /// "second equivalence", "strength".
  std::function<void(std::string_view)> on_stage;
  /// The simulated device gives K0 the same draws each time, so they are made once.
  std::optional<timing::Estimate> original_estimate;
  Examination examination;
};

/// A candidate that assembled and linked.
struct Built {
  std::shared_ptr<const object::CodeObject> object;
  recover::Program program; // recovered from the built object: what runs is what is analysed
  std::string hash;         // sha256 of the file
};

/// A built candidate that behaved like K0 on every case. Only the equivalence stage makes one.
class Verified {
public:
  const device::Loaded& loaded() const { return loaded_; }
  const Receipt& receipt() const { return receipt_; }
  /// What is known beyond the tests, or why there is no more: one line for each question.
  const std::string& strength() const { return strength_; }

private:
  Verified(device::Loaded loaded, Receipt receipt) : loaded_(std::move(loaded)), receipt_(std::move(receipt)) {}
  device::Loaded loaded_;
  Receipt receipt_;
  std::string strength_;
  friend class EquivalenceStage;
};

struct Interrupted {};
/// Why an evaluation goes no further: judged, told to stop, or unable to say.
using Halt = std::variant<Verdict, Interrupted, Error>;
template <class T> using Stage = std::expected<T, Halt>;

Stage<Built> build(const Candidate& candidate, const Bench& bench);
Stage<std::monostate> check(const Built& built, const Bench& bench);
/// A candidate is verified at first look before it is timed, and with other inputs at second look before it is kept.
Stage<Verified> establish_equivalence(const Built& built, oracle::Options options, Bench& bench);
/// Asks strict mode and the prover too. What the candidate adds to K0's findings is its fault.
Stage<Verified> strengthen(Verified verified, const Built& built, Bench& bench);
Stage<Timing> time(const Verified& verified, Bench& bench);

struct Evaluation {
  Verdict verdict;
  std::string text_hash;      // of the normalised text
  std::string artifact_hash;  // empty where nothing was built
  std::optional<Built> built; // of an accepted candidate
};

/// All stages. `number` seeds the inputs of the verification after timing, which no earlier evaluation has seen.
/// Nothing when `stop` was set: the candidate is not judged.
Result<std::optional<Evaluation>> evaluate(const Candidate& candidate, double parent_speedup, int64_t number,
                                           const Known& known, Bench& bench);

/// Makes the verdict what it would be had the evaluation begun now: what it duplicates may have been judged since. It
/// must not be known itself.
void recognise(Evaluation& evaluation, const Known& known);

} // namespace asmevo::gate
