// The controller: it owns what decides, drivers only propose.
//
// One evaluation: ask a driver for edits of the version that its worker stands at, send them through the gate, record
// the verdict, tell the driver. Everything that a proposal depends on is the seed, the worker and how many proposals it
// has had settled, the version and the verdicts before it: no clock, no address, no thread. That is what makes a run
// repeatable, and also what makes it resumable without saving any driver's state: the drivers are asked again for the
// recorded proposals and told the recorded verdicts, nothing is evaluated twice, and then the search goes on as if it
// had never stopped.
//
// Evaluations take most of the time, and several run at once. The lineage is still that of one thread, because the
// order of settling is fixed beforehand: rounds of turns (plan.h), and in a round the workers' evaluations in rotation,
// the first of each, then the second. A driver that can be copied is asked ahead, as if everything that is still being
// evaluated were going to be refused, which most of it is. Verdicts are settled in order. When one is an acceptance,
// the worker's turn ends, what was begun for it behind that is dropped as if it had never been asked for, and its
// driver is put back to where it would stand: a copy from the beginning of the turn is asked once more for the
// proposals that were settled. What a candidate duplicates is looked up again when it is settled. So threads decide
// when something is known, and never what.
#pragma once

#include "gate/pipeline.h"
#include "search/budget.h"
#include "search/evaluators.h"
#include "search/model.h"
#include "search/plan.h"

#include <array>
#include <chrono>
#include <deque>
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
  using Standpoint = search::Standpoint;

  /// `bench` must be made for the run of `lineage`; `driver` is the first worker's. All must outlive the controller.
  Controller(gate::Bench& bench, Driver& driver, Lineage& lineage);
  /// Evaluations run on these, a thread each, and no more on the first bench.
  void add_bench(gate::Bench& bench) { evaluating_.push_back(&bench); }
  /// The next worker's; RunInfo::team of them are needed.
  void add_driver(Driver& driver) { workers_.push_back({.driver = &driver}); }

  /// Called after every evaluation and once before the first.
  void on_progress(std::function<void(const Snapshot&)> show) { show_ = std::move(show); }

  /// Continues the run from what the lineage holds until its budget is spent, no driver has more ideas for any version,
  /// or bench.stop is set. Errors: what says nothing about a candidate (storage, device, a driver that throws).
  Result<Summary> run();

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
  struct Worker {
    Driver* driver = nullptr;
    std::unique_ptr<Driver> own; // what `driver` points to where it was put back
    int64_t settled = 0;         // proposals
  };
  /// A proposal on its way to a verdict.
  struct Trial {
    size_t worker = 0;
    int64_t stream = 0; // what its random numbers and inputs are made from
    int64_t parent = root_version;
    Proposal proposal;
    std::optional<Range> focus;
    std::shared_ptr<const Standpoint> at; // of the parent; null where there is no such version yet
    std::shared_ptr<Task> task;           // null where it was not begun
    const Attempt* recorded = nullptr;    // by an earlier session
    std::optional<int64_t> other_parent;  // of a composition
    double needed = 0;                    // the speedup that the commit rule begins from, where not the parent's
  };
  /// A turn while it is played.
  struct Play {
    Turn turn;
    std::shared_ptr<const Standpoint> at;
    std::unique_ptr<Driver> checkpoint; // the driver at its beginning
    int64_t asked = 0, settled = 0;
    bool dry = false, over = false;

    bool alive() const { return !over && !dry && asked < turn.length; }
  };
  struct Slot {
    size_t play = 0;
    std::optional<Trial> trial; // nothing: no more ideas
  };
  struct Game {
    std::vector<Play> plays;
    std::deque<Slot> slots; // asked and not settled, in order
    std::vector<Failure> failures;
    double best_speedup = 1; // at the beginning, as the failures: what is asked ahead must not depend on verdicts
    int64_t step = 0;
    size_t index = 0;
  };

  Result<void> load();
  Result<void> search();
  Result<bool> play(Round round); // false: ended, see ending_
  Result<void> ask_ahead(Game& game);
  Play* next_to_ask(Game& game) const;
  Result<Slot> ask(Game& game, Play& play);
  Result<std::optional<Proposal>> propose(const Game& game, const Play& play, int64_t stream, int64_t number);
  Result<bool> settle_first(Game& game);
  Result<bool> end_turn(Play& play);
  Result<void> put_back(Game& game, Play& play);
  void drop_slots(Game& game, const Play* of);

  Result<void> find_parent(Trial& trial);
  Result<void> begin(Trial& trial);
  Result<std::optional<gate::Evaluation>> evaluate(Trial& trial, double& seconds);
  std::optional<gate::Evaluation> refused(const Trial& trial) const;
  Result<bool> judge(Trial& trial); // false: stopped
  Result<void> record(const Trial& trial, gate::Evaluation evaluation, double seconds);
  Result<void> learn(Driver& driver, const Attempt& attempt);

  static constexpr int most_compositions = 2; // after a round
  Result<bool> compose();                     // false: ended
  Result<bool> compose(int64_t onto, int64_t other);
  std::optional<int64_t> next_to_merge(int64_t onto);
  void leave_branch(int64_t version);

  void absorb(const Attempt& attempt);
  void decide(Decision decision);
  bool end(Ending ending);
  bool stopped() const { return stop_ && *stop_; }
  bool replaying() const { return attempts_.size() < recorded_.size(); }
  bool spent() const { return snapshot(nullptr).budget.spent(int64_t(attempts_.size()), elapsed()); }
  int64_t best_version() const;
  double elapsed() const;
  Snapshot snapshot(const Attempt* last) const;

  gate::Bench& bench_; // the controller's own thread's
  std::vector<gate::Bench*> evaluating_;
  std::vector<Worker> workers_;
  Lineage& lineage_;
  std::function<void(const Snapshot&)> show_;
  const volatile bool* stop_ = nullptr;

  std::vector<Version> versions_, recorded_versions_;
  std::vector<Attempt> attempts_, recorded_; // recorded_: by earlier sessions
  std::vector<Decision> recorded_decisions_, new_decisions_;
  size_t decided_ = 0;
  gate::Known known_;
  Memory memory_;
  std::array<int64_t, gate::outcome_count> counts_{};
  Plan plan_;
  std::set<std::pair<int64_t, int64_t>> tried_; // versions that were merged or could not be
  Standpoints standpoints_;
  std::optional<BenchModel> model_;
  std::shared_ptr<const Standpoint> standing_;
  std::unique_ptr<Evaluators> evaluators_;
  Ending ending_ = Ending::budget_spent;
  bool driver_changed_ = false;
  double earlier_seconds_ = 0; // spent by earlier sessions
  std::chrono::steady_clock::time_point started_;
};

} // namespace asmevo::search
