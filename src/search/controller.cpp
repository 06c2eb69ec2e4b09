#include "search/controller.h"

#include "search/version.h"

#include "support/hash.h"

#include <algorithm>

namespace asmevo::search {
namespace {

constexpr std::array<std::string_view, 4> ending_names = {"budget spent", "no more ideas", "interrupted",
                                                          "driver stopped"};
constexpr size_t most_standpoints = 4; // beside one for each worker

PlanSettings plan_settings(const RunInfo& info) {
  return {.team = std::max<int64_t>(1, info.team),
          .turn = std::max<int64_t>(1, info.turn),
          .stall = info.stall,
          .patience = info.patience};
}

std::optional<std::string> fault_of_window(const Proposal& proposal, const std::optional<Range>& focus) {
  const std::optional<Range> window = proposal.window ? proposal.window : focus;
  if (!window) return std::nullopt;
  for (size_t i = 0; i < proposal.edits.size(); ++i)
    if (const recover::Edit& edit = proposal.edits[i]; !window->contains(edit))
      return fmt::format("edit {}: items [{}, {}) are outside the window [{}, {})", i, edit.first, edit.last,
                         window->first, window->last);
  return std::nullopt;
}

} // namespace

std::string_view ending_name(Ending ending) { return ending_names[size_t(ending)]; }

Controller::Controller(gate::Bench& bench, Driver& driver, Lineage& lineage)
    : bench_(bench), lineage_(lineage), plan_(plan_settings(lineage.info())), standpoints_(bench, lineage) {
  add_driver(driver);
  standpoints_.keep(size_t(plan_settings(lineage.info()).team) + most_standpoints);
}

Result<Summary> Controller::run() {
  const PlanSettings settings = plan_settings(lineage_.info());
  if (workers_.size() != size_t(settings.team))
    return fail("{}: a team of {} workers needs as many drivers, not {}", lineage_.directory(), settings.team,
                workers_.size());
  AE_CHECK(load());
  versions_.assign(1, recorded_versions_.front());
  std::vector<gate::Bench*> evaluating = evaluating_;
  if (evaluating.empty()) evaluating.push_back(&bench_);
  evaluators_ = std::make_unique<Evaluators>(evaluating, known_, stop_);
  const Result<void> searched = search();
  evaluators_.reset();
  if (!searched) return std::unexpected(searched.error());
  while (replaying()) absorb(recorded_[attempts_.size()]); // interrupted before it got so far
  if (ending_ != Ending::interrupted)
    AE_CHECK(lineage_.finish(ending_name(ending_), elapsed(), std::exchange(new_decisions_, {})));
  Snapshot last = snapshot(nullptr);
  return Summary{ending_, last, versions_[size_t(last.best_version)], int64_t(recorded_.size()), driver_changed_};
}

Result<void> Controller::open() {
  AE_CHECK(load());
  versions_.assign(1, recorded_versions_.front());
  while (replaying()) absorb(recorded_[attempts_.size()]);
  return {};
}

Result<const Attempt*> Controller::submit(int64_t parent, Proposal proposal) {
  stop_ = bench_.stop;
  if (spent()) return fail("the budget is spent");
  proposal.parent = parent == best_version() ? std::nullopt : std::optional(parent); // as a replay is recorded
  Trial trial{.stream = int64_t(attempts_.size()) + 1, .parent = parent, .proposal = std::move(proposal)};
  AE_TRY(bool judged, judge(trial));
  return judged ? &attempts_.back() : nullptr;
}

Result<void> Controller::load() {
  started_ = std::chrono::steady_clock::now();
  stop_ = bench_.stop;
  if (bench_.device->simulated()) model_.emplace(bench_);
  AE_TRY(recorded_versions_, lineage_.versions());
  AE_TRY(recorded_, lineage_.attempts());
  AE_TRY(recorded_decisions_, lineage_.decisions());
  for (size_t i = 0; i < recorded_.size(); ++i) {
    const Attempt& attempt = recorded_[i];
    const auto there = [&](const std::optional<int64_t>& version) {
      return !version || (*version >= 0 && size_t(*version) < recorded_versions_.size());
    };
    if (attempt.number != int64_t(i) + 1 || !there(attempt.parent) || !there(attempt.version))
      return fail("{}: attempt {} does not fit the lineage", lineage_.directory(), attempt.number);
  }
  AE_TRY(RunStatus status, lineage_.status());
  earlier_seconds_ = status.elapsed_seconds;
  known_.add(sha256_hex(gate::normalised_text(bench_.original->program, {})), bench_.original->hash, 0);
  return {};
}

Result<const Controller::Standpoint*> Controller::stand_at(int64_t version) {
  AE_TRY(standing_, standpoints_.at(versions_[size_t(version)]));
  return standing_.get();
}

/// A driver may ask for edits of another version than it was shown.
Result<void> Controller::find_parent(Trial& trial) {
  if (trial.proposal.parent) trial.parent = *trial.proposal.parent;
  if (trial.at || size_t(trial.parent) >= versions_.size()) return {};
  AE_TRY(trial.at, standpoints_.at(versions_[size_t(trial.parent)]));
  return {};
}

/// What is wrong with a trial before anything is made of it.
std::optional<gate::Evaluation> Controller::refused(const Trial& trial) const {
  std::optional<std::string> fault;
  if (!trial.at)
    fault = fmt::format("edits of version {}: there are versions 0 to {}", trial.parent, versions_.size() - 1);
  else
    fault = fault_of_window(trial.proposal, trial.focus);
  if (!fault) return std::nullopt;
  return gate::Evaluation{.verdict = {.outcome = gate::Outcome::static_inconsistency, .evidence = *fault}};
}

Result<void> Controller::begin(Trial& trial) {
  AE_CHECK(find_parent(trial));
  if (!trial.at || refused(trial)) return {};
  trial.task = std::make_shared<Task>();
  trial.task->at = trial.at;
  trial.task->edits = trial.proposal.edits;
  trial.task->auto_waits = trial.proposal.auto_waits;
  trial.task->parent_speedup = trial.needed > 0 ? trial.needed : versions_[size_t(trial.parent)].speedup;
  trial.task->number = trial.stream;
  trial.task->turn = int64_t(trial.worker);
  if (evaluators_) evaluators_->begin(trial.task);
  return {};
}

Result<std::optional<gate::Evaluation>> Controller::evaluate(Trial& trial, double& seconds) {
  if (!trial.task) AE_CHECK(begin(trial));
  if (auto refusal = refused(trial)) {
    if (!trial.at) trial.parent = root_version;
    return refusal;
  }
  if (evaluators_) {
    auto evaluation = evaluators_->end(*trial.task);
    seconds = trial.task->seconds;
    return evaluation;
  }
  const auto began = std::chrono::steady_clock::now();
  gate::Edited edited{&trial.at->program, trial.proposal.edits, trial.proposal.auto_waits};
  auto evaluation = gate::evaluate(std::move(edited), trial.task->parent_speedup, trial.stream, known_, bench_);
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return evaluation;
}

Result<bool> Controller::judge(Trial& trial) {
  double seconds = 0;
  AE_TRY(std::optional<gate::Evaluation> evaluation, evaluate(trial, seconds));
  if (!evaluation) return false;
  gate::recognise(*evaluation, known_);
  AE_CHECK(record(trial, *std::move(evaluation), seconds));
  return true;
}

Result<void> Controller::record(const Trial& trial, gate::Evaluation evaluation, double seconds) {
  const HotWindow* window = trial.at ? window_of(trial.at->windows, trial.proposal.edits) : nullptr;
  Attempt attempt{.number = int64_t(attempts_.size()) + 1,
                  .parent = trial.parent,
                  .driver = trial.other_parent ? "composition" : std::string(workers_[trial.worker].driver->name()),
                  .proposal = trial.proposal,
                  .text_hash = std::move(evaluation.text_hash),
                  .artifact_hash = std::move(evaluation.artifact_hash),
                  .verdict = std::move(evaluation.verdict),
                  .seconds = seconds,
                  .worker = int64_t(trial.worker),
                  .window = window ? window->key : 0,
                  .other_parent = trial.other_parent};
  std::optional<Lineage::Accepted> accepted;
  if (attempt.verdict.outcome == gate::Outcome::accepted) {
    attempt.version = int64_t(versions_.size());
    const gate::Built& built = *evaluation.built;
    Version version =
        version_of(built.program, built.hash, bench_.original->kernel, bench_.reference->launch().cases.front());
    version.id = *attempt.version;
    version.parent = trial.parent;
    version.evaluation = attempt.number;
    version.speedup = attempt.verdict.timing->speedup;
    version.cv = attempt.verdict.timing->cv;
    version.other_parent = trial.other_parent;
    accepted = Lineage::Accepted{.version = std::move(version), .artifact = built.object->bytes};
  }
  AE_CHECK(lineage_.record(attempt, accepted, elapsed(), std::exchange(new_decisions_, {})));
  if (accepted) recorded_versions_.push_back(std::move(accepted->version));
  absorb(attempt);
  return {};
}

/// What a verdict changes, whoever reached it.
void Controller::absorb(const Attempt& attempt) {
  ++counts_[size_t(attempt.verdict.outcome)];
  known_.add(attempt.text_hash, attempt.artifact_hash, attempt.number);
  const gate::Outcome outcome = attempt.verdict.outcome;
  if (outcome != gate::Outcome::accepted && outcome != gate::Outcome::duplicate)
    memory_.note({.window = attempt.window,
                  .direction = attempt.proposal.direction,
                  .rule = attempt.proposal.rule,
                  .outcome = outcome,
                  .count = 1,
                  .last = attempt.number});
  if (attempt.version) versions_.push_back(recorded_versions_[size_t(*attempt.version)]);
  attempts_.push_back(attempt);
}

/// Decisions that an earlier session took come again in the same order.
void Controller::decide(Decision decision) {
  decision.before = int64_t(attempts_.size()) + 1;
  if (decided_++ >= recorded_decisions_.size()) new_decisions_.push_back(std::move(decision));
}

bool Controller::end(Ending ending) {
  ending_ = ending;
  return false;
}

/// The best verified version; of equals the oldest.
int64_t Controller::best_version() const { return std::ranges::max_element(versions_, {}, &Version::speedup)->id; }

double Controller::elapsed() const {
  std::chrono::duration<double> session = std::chrono::steady_clock::now() - started_;
  return earlier_seconds_ + session.count();
}

Snapshot Controller::snapshot(const Attempt* last) const {
  const Version& best = versions_[size_t(best_version())];
  return {.evaluations = int64_t(attempts_.size()),
          .best_version = best.id,
          .best_speedup = best.speedup,
          .best_cv = best.cv,
          .counts = counts_,
          .elapsed_seconds = elapsed(),
          .budget = {lineage_.info().budget_evaluations, lineage_.info().budget_seconds},
          .last = last};
}

} // namespace asmevo::search
