#include "search/controller.h"

#include "support/hash.h"

#include <algorithm>

namespace asmevo::search {
namespace {

constexpr std::array<std::string_view, 4> ending_names = {"budget spent", "no more ideas", "interrupted",
                                                          "driver stopped"};

/// Each evaluation draws from a stream of its own, so that it does not matter which ones were made in this process.
std::mt19937_64 random_for(uint64_t seed, int64_t number) {
  std::seed_seq mixed{uint32_t(seed), uint32_t(seed >> 32), uint32_t(number), uint32_t(uint64_t(number) >> 32)};
  return std::mt19937_64(mixed);
}

bool same(const Proposal& a, const Proposal& b) {
  auto equal = [](const recover::Edit& x, const recover::Edit& y) {
    return x.first == y.first && x.last == y.last && x.text == y.text;
  };
  return a.rule == b.rule && a.auto_waits == b.auto_waits && a.parent == b.parent &&
         std::ranges::equal(a.edits, b.edits, equal);
}

std::optional<std::string> fault_of_window(const Proposal& proposal) {
  if (!proposal.window) return std::nullopt;
  for (size_t i = 0; i < proposal.edits.size(); ++i)
    if (const recover::Edit& edit = proposal.edits[i]; !proposal.window->contains(edit))
      return fmt::format("edit {}: items [{}, {}) are outside the window [{}, {})", i, edit.first, edit.last,
                         proposal.window->first, proposal.window->last);
  return std::nullopt;
}

} // namespace

std::string_view ending_name(Ending ending) { return ending_names[size_t(ending)]; }

Result<Summary> Controller::run() {
  AE_CHECK(load());
  AE_CHECK(replay());
  int64_t replayed = int64_t(attempts_.size());
  if (show_) show_(snapshot(nullptr));
  while (true) {
    AE_TRY(bool more, next());
    if (!more) break;
    if (show_) show_(snapshot(&attempts_.back()));
  }
  if (ending_ != Ending::interrupted) AE_CHECK(lineage_.finish(ending_name(ending_), elapsed()));
  Snapshot last = snapshot(nullptr);
  return Summary{ending_, last, versions_[size_t(last.best_version)], replayed, driver_changed_};
}

Result<void> Controller::open() {
  AE_CHECK(load());
  std::ranges::for_each(attempts_, [this](const Attempt& attempt) { remember(attempt); });
  return {};
}

Result<const Attempt*> Controller::submit(int64_t parent, Proposal proposal) {
  const int64_t number = int64_t(attempts_.size()) + 1;
  if (snapshot().budget.spent(number - 1, elapsed())) return fail("the budget is spent");
  AE_TRY(bool judged, judge({number, parent, std::move(proposal)}));
  return judged ? &attempts_.back() : nullptr;
}

Result<void> Controller::load() {
  started_ = std::chrono::steady_clock::now();
  AE_TRY(versions_, lineage_.versions());
  AE_TRY(attempts_, lineage_.attempts());
  AE_TRY(RunStatus status, lineage_.status());
  earlier_seconds_ = status.elapsed_seconds;
  known_.texts.emplace(sha256_hex(gate::normalised_text(bench_.original->program, {})), 0);
  known_.artifacts.emplace(bench_.original->hash, 0);
  return {};
}

Result<void> Controller::replay() {
  for (size_t i = 0; i < attempts_.size(); ++i) {
    if (bench_.stop && *bench_.stop) break;
    const Attempt& attempt = attempts_[i];
    if (attempt.number != int64_t(i) + 1 || attempt.parent < 0 || size_t(attempt.parent) >= versions_.size())
      return fail("{}: attempt {} does not fit the lineage", lineage_.directory(), attempt.number);
    if (driver_.repeatable()) {
      AE_TRY(std::optional<Trial> trial, propose(attempt.number, attempt.parent));
      if (!trial || !same(trial->proposal, attempt.proposal)) driver_changed_ = true;
    }
    AE_CHECK(learn(attempt));
  }
  std::ranges::for_each(attempts_, [this](const Attempt& attempt) { remember(attempt); });
  return {};
}

Result<bool> Controller::next() {
  int64_t number = int64_t(attempts_.size()) + 1;
  auto end = [this](Ending ending) {
    ending_ = ending;
    return false;
  };
  if (bench_.stop && *bench_.stop) return end(Ending::interrupted);
  if (snapshot(nullptr).budget.spent(number - 1, elapsed())) return end(Ending::budget_spent);
  AE_TRY(std::optional<Trial> trial, propose(number, choose_parent()));
  if (!trial && bench_.stop && *bench_.stop) return end(Ending::interrupted);
  if (!trial) return end(driver_.trouble() ? Ending::driver_stopped : Ending::no_more_ideas);
  AE_TRY(bool judged, judge(*std::move(trial)));
  return judged || end(Ending::interrupted);
}

Result<bool> Controller::judge(Trial trial) {
  auto began = std::chrono::steady_clock::now();
  AE_TRY(std::optional<gate::Evaluation> evaluation, evaluate(trial));
  if (!evaluation) return false;
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  AE_CHECK(settle(trial, *std::move(evaluation), seconds.count()));
  return true;
}

/// A driver may ask for edits of another version than it was shown.
Result<std::optional<gate::Evaluation>> Controller::evaluate(Trial& trial) {
  if (const auto& wanted = trial.proposal.parent) {
    if (size_t(*wanted) >= versions_.size())
      return gate::Evaluation{.verdict = {.outcome = gate::Outcome::static_inconsistency,
                                          .evidence = fmt::format("edits of version {}: there are versions 0 to {}",
                                                                  *wanted, versions_.size() - 1)}};
    trial.parent = *wanted;
  }
  AE_TRY(const Standpoint* at, stand_at(trial.parent));
  if (auto fault = fault_of_window(trial.proposal))
    return gate::Evaluation{.verdict = {.outcome = gate::Outcome::static_inconsistency, .evidence = *fault}};
  gate::Edited candidate{&at->program, trial.proposal.edits, trial.proposal.auto_waits};
  return gate::evaluate(std::move(candidate), versions_[size_t(trial.parent)].speedup, trial.number, known_, bench_);
}

Result<const Controller::Standpoint*> Controller::stand_at(int64_t version) {
  if (standpoint_ && standpoint_->version == version) return &*standpoint_;
  Standpoint standpoint{.version = version};
  AE_TRY(Bytes bytes, lineage_.artifact(versions_[size_t(version)].artifact));
  AE_TRY(object::CodeObject object, object::read_code_object(std::move(bytes), bench_.original->object->path));
  auto shared = std::make_shared<object::CodeObject>(std::move(object));
  AE_TRY(standpoint.program, recover::recover(shared, *bench_.codec));
  AE_TRY(standpoint.loaded, bench_.device->load(shared));
  const gate::Settings& settings = bench_.settings;
  device::TimeOptions options{.draws = settings.draws, .seed = settings.seed, .attribution = true};
  AE_TRY(standpoint.estimate,
         bench_.device->time(standpoint.loaded, bench_.reference->launch().cases.front(), options));
  AE_TRY(standpoint.windows, windows_of(standpoint));
  standpoint_ = std::move(standpoint);
  return &*standpoint_;
}

Result<std::vector<HotWindow>> Controller::windows_of(const Standpoint& at) const {
  if (!at.loaded.image || at.estimate.attribution.empty()) return std::vector<HotWindow>{};
  AE_TRY(const recover::Function* function, gate::function_of(at.program, bench_.original->kernel));
  const std::span<const isa::Instruction> code = at.loaded.image->instructions();
  return hot_windows(at.program, *function, profile::from_estimate(at.estimate, code, bench_.device->description()),
                     code);
}

Result<std::optional<Controller::Trial>> Controller::propose(int64_t number, int64_t parent) {
  AE_TRY(const Standpoint* at, stand_at(parent));
  AE_TRY(const recover::Function* function, gate::function_of(at->program, bench_.original->kernel));
  State state{.program = &at->program,
              .function = function,
              .estimate = &at->estimate,
              .image = at->loaded.image ? &*at->loaded.image : nullptr,
              .codec = bench_.codec,
              .allow_float_rewrites =
                  oracle::allows_float_rewrites(bench_.reference->policy(), bench_.reference->launch()),
              .windows = at->windows,
              .failures = memory_.failures(),
              .number = number,
              .version = parent,
              .versions = &versions_,
              .attempts = &attempts_,
              .timed_case = &bench_.reference->launch().cases.front(),
              .stop = bench_.stop};
  const std::string device = bench_.device->description();
  state.device = device;
  if (const int64_t most = lineage_.info().budget_evaluations; most > 0)
    state.evaluations_left = std::max<int64_t>(0, most - number + 1);
  std::mt19937_64 random = random_for(lineage_.info().seed, number);
  try {
    std::optional<Proposal> proposal = driver_.propose(state, random);
    if (!proposal) return std::nullopt;
    return Trial{number, parent, *std::move(proposal)};
  } catch (const std::exception& error) {
    return fail("driver {}: {}", driver_.name(), error.what());
  }
}

Result<void> Controller::learn(const Attempt& attempt) {
  try {
    driver_.learn(attempt.proposal, attempt.verdict);
    return {};
  } catch (const std::exception& error) {
    return fail("driver {}: {}", driver_.name(), error.what());
  }
}

Result<void> Controller::settle(const Trial& trial, gate::Evaluation evaluation, double seconds) {
  Attempt attempt{.number = trial.number,
                  .parent = trial.parent,
                  .driver = std::string(driver_.name()),
                  .proposal = trial.proposal,
                  .text_hash = std::move(evaluation.text_hash),
                  .artifact_hash = std::move(evaluation.artifact_hash),
                  .verdict = std::move(evaluation.verdict),
                  .seconds = seconds};
  std::optional<Lineage::Accepted> accepted;
  if (attempt.verdict.outcome == gate::Outcome::accepted) {
    attempt.version = int64_t(versions_.size());
    accepted = Lineage::Accepted{.version = {.id = *attempt.version,
                                             .parent = trial.parent,
                                             .evaluation = trial.number,
                                             .artifact = evaluation.built->hash,
                                             .listing = recover::print_listing(evaluation.built->program, false),
                                             .speedup = attempt.verdict.timing->speedup,
                                             .cv = attempt.verdict.timing->cv},
                                 .artifact = evaluation.built->object->bytes};
  }
  AE_CHECK(lineage_.record(attempt, accepted, elapsed()));
  if (accepted) versions_.push_back(std::move(accepted->version));
  AE_CHECK(learn(attempt));
  remember(attempt);
  attempts_.push_back(std::move(attempt));
  return {};
}

void Controller::remember(const Attempt& attempt) {
  ++counts_[size_t(attempt.verdict.outcome)];
  known_.texts.emplace(attempt.text_hash, attempt.number);
  if (!attempt.artifact_hash.empty()) known_.artifacts.emplace(attempt.artifact_hash, attempt.number);
}

/// The best verified version; of equals the oldest.
int64_t Controller::choose_parent() const { return std::ranges::max_element(versions_, {}, &Version::speedup)->id; }

double Controller::elapsed() const {
  std::chrono::duration<double> session = std::chrono::steady_clock::now() - started_;
  return earlier_seconds_ + session.count();
}

Snapshot Controller::snapshot(const Attempt* last) const {
  const Version& best = versions_[size_t(choose_parent())];
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
