// Drivers propose, the controller decides. A driver sees a verified program and says which text to put where.
#pragma once

#include "gate/verdict.h"
#include "recover/program.h"
#include "search/window.h"
#include "timing/timing.h"

#include <memory>
#include <random>

namespace asmevo::launch {
struct Case;
}

namespace asmevo::search {

struct Version; // search/lineage.h
struct Attempt;
class Model; // search/model.h

/// What a change is meant to win by.
enum class Direction : uint8_t {
  latency_hiding,
  dependency_reduction,
  register_pressure,
  memory_access,
  instruction_simplification
};
inline constexpr size_t direction_count = size_t(Direction::instruction_simplification) + 1;
std::string_view direction_name(Direction); // "latency-hiding"
std::optional<Direction> direction_from_name(std::string_view);

/// What the controller wants the next ideas to be about. A driver has no more ideas for a state when it has none for
/// its focus: then the controller chooses another.
struct Focus {
  std::optional<Range> window;        // ideas that change something in it; nothing: the whole kernel
  std::optional<Direction> direction; // nothing: any
};

/// What did not work: candidates of one kind that were refused for one reason, in code that looked like this.
struct Failure {
  uint64_t window = 0; // HotWindow::key: the same code in another version has the same
  std::optional<Direction> direction;
  std::string rule;
  gate::Outcome outcome = gate::Outcome::duplicate;
  int64_t count = 0, last = 0; // how many, and the number of the last evaluation
};

/// What a driver may look at. Nothing in it can be changed.
struct State {
  const recover::Program* program = nullptr; // the verified version to improve
  const recover::Function* function = nullptr;
  const timing::Estimate* estimate = nullptr; // with attribution
  const machine::Image* image = nullptr;      // of that version; attribution is indexed by its instructions
  const isa::Codec* codec = nullptr;
  bool allow_float_rewrites = false; // the comparison policy of the launch has a floating-point tolerance
  /// Over this version, as a share, with which the gate keeps a candidate whose spread is the same.
  double least_gain = 0;
  double speedup = 1, best_speedup = 1; // of this version, and of the fastest when the round began
  Model* model = nullptr;               // null where there is none: on hardware
  std::span<const HotWindow> windows;   // where the time goes, the hottest first
  Focus focus;
  std::span<const Failure> failures; // bounded; the latest last

  // For drivers that ask someone outside, who knows nothing but what he is told.
  int64_t number = 0;                             // of the evaluation that is to come
  int64_t version = 0;                            // the one to improve, in the lineage
  const std::vector<Version>* versions = nullptr; // by id
  const std::vector<Attempt>* attempts = nullptr; // by number
  std::optional<int64_t> evaluations_left;        // where they are bounded
  const launch::Case* timed_case = nullptr;       // what is timed
  std::string_view device;                        // what runs and times candidates
  const volatile bool* stop = nullptr;            // set when nobody waits for a proposal any more; may be null
};

/// Who wrote a proposal, where it came from outside and that is known.
struct Origin {
  std::string model, prompt_hash;              // sha256 of what the model was shown
  int64_t input_tokens = 0, output_tokens = 0; // 0: not known
  double cost = 0;                             // in the currency of the prices that were given; 0: not known

  bool operator==(const Origin&) const = default;
};

struct Proposal {
  std::vector<recover::Edit> edits;
  std::string rule;              // "tighten-waits"
  std::string rationale;         // one line
  bool auto_waits = false;       // the gate puts in the waits and nops of the blocks that the edits touch
  std::optional<int64_t> parent; // the version that the edits are of; the one the driver was shown where it says none
  std::optional<Direction> direction;
  /// The items that the edits stay inside; edits outside of it are refused. Nothing: the window in focus.
  std::optional<Range> window;
  Origin origin;
};

class Driver {
public:
  virtual ~Driver() = default;
  virtual std::string_view name() const = 0;
  /// Whether it proposes the same again when everything is as it was. A driver that asks someone outside does not; a
  /// run that goes on tells it what was proposed before and does not ask.
  virtual bool repeatable() const { return true; }
  /// A copy, of a driver whose proposals depend on earlier verdicts only where one of them is an acceptance: learn() of
  /// a refusal changes nothing. Such a driver is asked for several proposals before it hears of the first. Null where
  /// each proposal depends on the verdict before.
  virtual std::unique_ptr<Driver> clone() const { return nullptr; }
  /// The next proposal for `state`, or nothing when the driver has no more ideas for this program.
  virtual std::optional<Proposal> propose(const State& state, std::mt19937_64& random) = 0;
  /// Why propose() had nothing, where that was not for want of ideas.
  virtual std::optional<std::string> trouble() const { return std::nullopt; }
  /// What whoever started it should know from the beginning, in one line.
  virtual std::optional<std::string> notice() const { return std::nullopt; }
  /// The verdict on the last proposal.
  virtual void learn(const Proposal& proposal, const gate::Verdict& verdict) = 0;
};

} // namespace asmevo::search
