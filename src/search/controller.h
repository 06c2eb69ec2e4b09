// The controller: it owns what decides, drivers only propose.
//
// One evaluation: choose the version to start from, ask the driver, send the proposal through the gate, record the
// verdict, tell the driver. Everything that a proposal depends on is the seed, the number of the evaluation, the
// version and the verdicts before it: no clock, no address, no thread. That is what makes a run repeatable, and also
// what makes it resumable without saving any driver's state: the driver is asked again for the recorded proposals and
// told the recorded verdicts, nothing is evaluated twice, and then the search goes on as if it had never stopped.
//
// A proposal and its evaluation are separate steps with a value between them, and only settle() changes anything, in
// the order of the numbers: several workers may evaluate at once without changing the lineage.
#pragma once

#include "gate/pipeline.h"
#include "search/budget.h"
#include "search/driver.h"
#include "search/lineage.h"
#include "search/memory.h"

#include <array>
#include <chrono>
#include <functional>

namespace asmevo::search {

enum class Ending : uint8_t { budget_spent, no_more_ideas, interrupted, driver_stopped };
std::string_view ending_name(Ending);

/// Where a search stands, for whoever shows it.
struct Snapshot {
  int64_t evaluations = 0;
  int64_t best_version = root_version;
  double best_speedup = 1;
  double best_cv = 0;
  std::array<int64_t, gate::outcome_count> counts{}; // by outcome
  double elapsed_seconds = 0;                        // over all sessions of the run
  Budget budget;
  const Attempt* last = nullptr; // the evaluation that just ended; null before the first
};

struct Summary {
  Ending ending = Ending::budget_spent;
  Snapshot snapshot;
  Version best;
  int64_t replayed = 0;        // evaluations of earlier sessions
  bool driver_changed = false; // the driver no longer proposes what it proposed when the run was recorded
};

class Controller {
public:
  /// `bench` must be made for the run of `lineage`. All must outlive the controller.
  Controller(gate::Bench& bench, Driver& driver, Lineage& lineage)
      : bench_(bench), driver_(driver), lineage_(lineage) {}

  /// Called after every evaluation and once before the first.
  void on_progress(std::function<void(const Snapshot&)> show) { show_ = std::move(show); }

  /// Continues the run from what the lineage holds until its budget is spent, the driver has no more ideas for the best
  /// version, or bench.stop is set. Errors: what says nothing about a candidate (storage, device, a driver that
  /// throws).
  Result<Summary> run();

  /// A version, ready to be looked at.
  struct Standpoint {
    int64_t version = -1;
    device::Loaded loaded;
    recover::Program program;
    timing::Estimate estimate;      // with attribution
    std::vector<HotWindow> windows; // the hottest first
  };

  // Instead of run(), where proposals come one at a time from outside: open(), then what one likes. The driver is not
  // asked; attempts carry its name.
  Result<void> open();
  const std::vector<Version>& versions() const { return versions_; }
  const std::vector<Attempt>& attempts() const { return attempts_; }
  Snapshot snapshot() const { return snapshot(nullptr); }
  /// `version` must be one; the pointer is good until the next call that changes where the controller stands.
  Result<const Standpoint*> stand_at(int64_t version);
  /// One evaluation of edits of version `parent`, recorded; null when bench.stop was set: then nothing is recorded.
  /// Errors: the budget is spent, and those of run().
  Result<const Attempt*> submit(int64_t parent, Proposal proposal);

private:
  struct Trial {
    int64_t number = 0;
    int64_t parent = root_version;
    Proposal proposal;
  };

  Result<void> load();
  Result<void> replay();
  Result<bool> next();             // false: nothing more to do, see ending_
  Result<bool> judge(Trial trial); // false: stopped
  Result<std::optional<gate::Evaluation>> evaluate(Trial& trial);
  Result<std::optional<Trial>> propose(int64_t number, int64_t parent);
  Result<void> settle(const Trial& trial, gate::Evaluation evaluation, double seconds);
  Result<void> learn(const Attempt& attempt);
  void remember(const Attempt& attempt);
  Result<std::vector<HotWindow>> windows_of(const Standpoint& at) const;
  int64_t choose_parent() const;
  double elapsed() const;
  Snapshot snapshot(const Attempt* last) const;

  gate::Bench& bench_;
  Driver& driver_;
  Lineage& lineage_;
  std::function<void(const Snapshot&)> show_;

  std::vector<Version> versions_;
  std::vector<Attempt> attempts_;
  gate::Known known_;
  Memory memory_;
  std::array<int64_t, gate::outcome_count> counts_{};
  std::optional<Standpoint> standpoint_;
  Ending ending_ = Ending::budget_spent;
  bool driver_changed_ = false;
  double earlier_seconds_ = 0; // spent by earlier sessions
  std::chrono::steady_clock::time_point started_;
};

} // namespace asmevo::search
