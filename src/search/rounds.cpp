// The part of the controller that plays rounds: who is asked when, and what is settled next (controller.h).
#include "search/controller.h"

#include <algorithm>

namespace asmevo::search {
namespace {

constexpr size_t asked_ahead = 2; // proposals for each thread

/// Each proposal draws from a stream of its own, so that it does not matter which ones were made in this process.
std::mt19937_64 random_for(uint64_t seed, int64_t stream) {
  std::seed_seq mixed{uint32_t(seed), uint32_t(seed >> 32), uint32_t(stream), uint32_t(uint64_t(stream) >> 32)};
  return std::mt19937_64(mixed);
}

int64_t stream_of(size_t worker, int64_t proposal) { return int64_t(worker) << 32 | proposal; }

bool same_edits(const Proposal& a, const Proposal& b) {
  auto equal = [](const recover::Edit& x, const recover::Edit& y) {
    return x.first == y.first && x.last == y.last && x.text == y.text;
  };
  return a.auto_waits == b.auto_waits && std::ranges::equal(a.edits, b.edits, equal);
}

bool same(const Proposal& a, const Proposal& b) { return a.rule == b.rule && a.parent == b.parent && same_edits(a, b); }

} // namespace

Result<void> Controller::search() {
  if (show_ && recorded_.empty()) show_(snapshot(nullptr));
  while (true) {
    if (stopped()) {
      end(Ending::interrupted);
      return {};
    }
    const auto look = [this](int64_t version) { return standpoints_.at(versions_[size_t(version)]); };
    AE_TRY(Round round, plan_.next(versions_, memory_, look));
    for (Decision& decision : round.decisions) decide(std::move(decision));
    if (round.turns.empty() && replaying()) { // an earlier session had ideas
      driver_changed_ = true;
      while (replaying()) absorb(recorded_[attempts_.size()]);
      continue;
    }
    if (round.turns.empty()) {
      end(Ending::no_more_ideas);
      return {};
    }
    AE_TRY(bool more, play(std::move(round)));
    if (more) {
      AE_TRY(more, compose());
    }
    if (!more) return {};
  }
}

Result<bool> Controller::play(Round round) {
  Game game;
  for (Turn& turn : round.turns) {
    game.plays.push_back({.turn = turn});
    AE_TRY(game.plays.back().at, standpoints_.at(versions_[size_t(turn.version)]));
  }
  game.failures.assign(memory_.failures().begin(), memory_.failures().end());
  game.best_speedup = versions_[size_t(best_version())].speedup;
  std::optional<Ending> ending;
  while (true) {
    if (stopped()) ending = Ending::interrupted;
    if (!ending && !replaying() && spent()) ending = Ending::budget_spent;
    if (ending) break;
    AE_CHECK(ask_ahead(game));
    if (game.slots.empty()) return true;
    const size_t before = attempts_.size();
    AE_TRY(const bool more, settle_first(game));
    if (!more) {
      drop_slots(game, nullptr);
      return false;
    }
    if (show_ && attempts_.size() > before && !replaying())
      show_(snapshot(attempts_.size() == recorded_.size() ? nullptr : &attempts_.back()));
  }
  drop_slots(game, nullptr);
  return end(*ending);
}

/// Proposals that are not settled yet are taken to be refused.
Result<void> Controller::ask_ahead(Game& game) {
  const size_t most = replaying() || evaluating_.size() < 2 ? 1 : asked_ahead * evaluating_.size();
  const int64_t budget = lineage_.info().budget_evaluations;
  while (game.slots.size() < most) {
    const auto number = int64_t(attempts_.size() + game.slots.size());
    if (!replaying() && budget > 0 && number >= budget) return {};
    Play* play = next_to_ask(game);
    if (!play) return {};
    AE_TRY(Slot slot, ask(game, *play));
    game.slots.push_back(std::move(slot));
  }
  return {};
}

/// The turn whose evaluation comes next in the rotation; null where there is none, or its driver has to hear a verdict
/// first.
Controller::Play* Controller::next_to_ask(Game& game) const {
  while (std::ranges::any_of(game.plays, &Play::alive)) {
    if (game.index == game.plays.size()) {
      game.index = 0;
      ++game.step;
    }
    Play& play = game.plays[game.index];
    if (play.alive() && play.asked == game.step) {
      const bool waits = play.asked > play.settled;
      if (waits && !play.checkpoint) return nullptr;
      ++game.index;
      return &play;
    }
    ++game.index;
  }
  return nullptr;
}

Result<Controller::Slot> Controller::ask(Game& game, Play& play) {
  Worker& worker = workers_[play.turn.worker];
  Slot slot{.play = size_t(&play - game.plays.data())};
  if (play.asked == 0 && evaluating_.size() > 1) play.checkpoint = worker.driver->clone();
  const int64_t stream = stream_of(play.turn.worker, worker.settled + (play.asked - play.settled) + 1);
  const auto number = int64_t(attempts_.size() + game.slots.size()) + 1;
  const Attempt* recorded = replaying() ? &recorded_[attempts_.size()] : nullptr;
  std::optional<Proposal> proposal;
  if (recorded && !worker.driver->repeatable()) {
    const bool was_dry = decided_ < recorded_decisions_.size() &&
                         recorded_decisions_[decided_].kind == DecisionKind::exhausted &&
                         recorded_decisions_[decided_].before == number;
    if (!was_dry) proposal = recorded->proposal;
  } else {
    AE_TRY(proposal, propose(game, play, stream, number));
  }
  if (!proposal) {
    play.dry = true;
    return slot;
  }
  if (proposal->parent == play.turn.version) proposal->parent.reset(); // said or not, it is recorded alike
  ++play.asked;
  slot.trial = Trial{.worker = play.turn.worker,
                     .stream = stream,
                     .parent = play.turn.version,
                     .proposal = *std::move(proposal),
                     .focus = play.turn.focus.window,
                     .recorded = recorded};
  if (recorded) {
    if (!same(slot.trial->proposal, recorded->proposal)) driver_changed_ = true;
    return slot;
  }
  if (!slot.trial->proposal.parent || *slot.trial->proposal.parent == play.turn.version) slot.trial->at = play.at;
  // What is asked already is a duplicate by the time that it is settled.
  const bool is_asked = std::ranges::any_of(game.slots, [&](const Slot& other) {
    return other.trial && other.trial->at && other.trial->at == slot.trial->at &&
           same_edits(other.trial->proposal, slot.trial->proposal);
  });
  if (!is_asked) AE_CHECK(begin(*slot.trial));
  return slot;
}

Result<std::optional<Proposal>> Controller::propose(const Game& game, const Play& play, int64_t stream,
                                                    int64_t number) {
  const Standpoint& at = *play.at;
  AE_TRY(const recover::Function* function, gate::function_of(at.program, bench_.original->kernel));
  const std::string device = bench_.device->description();
  const Version& version = versions_[size_t(play.turn.version)];
  State state{
      .program = &at.program,
      .function = function,
      .estimate = &at.estimate,
      .image = at.loaded.image ? &*at.loaded.image : nullptr,
      .codec = bench_.codec,
      .allow_float_rewrites = oracle::allows_float_rewrites(bench_.reference->policy(), bench_.reference->launch()),
      .least_gain = gate::required_speedup(bench_.settings.rule, version.speedup, version.cv) / version.speedup - 1,
      .speedup = version.speedup,
      .best_speedup = game.best_speedup,
      .model = model_ ? &*model_ : nullptr,
      .windows = at.windows,
      .focus = play.turn.focus,
      .failures = game.failures,
      .number = number,
      .version = play.turn.version,
      .versions = &versions_,
      .attempts = &attempts_,
      .timed_case = &bench_.reference->launch().cases.front(),
      .device = device,
      .stop = stop_};
  if (const int64_t most = lineage_.info().budget_evaluations; most > 0)
    state.evaluations_left = std::max<int64_t>(0, most - number + 1);
  std::mt19937_64 random = random_for(lineage_.info().seed, stream);
  Driver& driver = *workers_[play.turn.worker].driver;
  try {
    return driver.propose(state, random);
  } catch (const std::exception& error) {
    return fail("driver {}: {}", driver.name(), error.what());
  }
}

Result<bool> Controller::settle_first(Game& game) {
  Slot slot = std::move(game.slots.front());
  game.slots.pop_front();
  Play& play = game.plays[slot.play];
  if (!slot.trial) return end_turn(play);
  Trial& trial = *slot.trial;
  if (trial.recorded) {
    absorb(*trial.recorded);
  } else {
    AE_TRY(const bool judged, judge(trial));
    if (!judged) return end(Ending::interrupted);
  }
  Worker& worker = workers_[play.turn.worker];
  ++play.settled;
  const Attempt& attempt = attempts_.back();
  const Version* made = attempt.version ? &versions_.back() : nullptr;
  if (made) AE_CHECK(put_back(game, play));
  ++worker.settled;
  AE_CHECK(learn(*worker.driver, attempt));
  const int64_t before = plan_.version_of(play.turn.worker);
  plan_.settled(play.turn.worker, made, versions_[size_t(attempt.parent)].speedup);
  // Who chose another version to change has not said that it wants to go on from there.
  if (made && attempt.parent != before) plan_.move(play.turn.worker, best_version());
  return true;
}

/// The driver has no more ideas, or nobody to ask for them.
Result<bool> Controller::end_turn(Play& play) {
  if (stopped()) return end(Ending::interrupted);
  if (workers_[play.turn.worker].driver->trouble()) return end(Ending::driver_stopped);
  play.over = true;
  decide({.worker = int64_t(play.turn.worker),
          .kind = DecisionKind::exhausted,
          .version = play.turn.version,
          .focus = play.turn.focus,
          .reason = fmt::format("after {} proposals of this turn", play.settled)});
  plan_.exhausted(play.turn.worker);
  return true;
}

/// Ends a turn with an acceptance: what was asked for behind it never was.
Result<void> Controller::put_back(Game& game, Play& play) {
  play.over = true;
  const size_t before = game.slots.size();
  const bool dry = play.dry;
  drop_slots(game, &play);
  if (game.slots.size() == before && !dry) return {};
  Worker& worker = workers_[play.turn.worker];
  if (!play.checkpoint) return {};
  worker.own = std::move(play.checkpoint);
  worker.driver = worker.own.get();
  const int64_t first = worker.settled - (play.settled - 1);
  for (int64_t k = 1; k <= play.settled; ++k)
    AE_CHECK(propose(game, play, stream_of(play.turn.worker, first + k), int64_t(attempts_.size())));
  return {};
}

/// Of one turn, or all.
void Controller::drop_slots(Game& game, const Play* of) {
  std::erase_if(game.slots, [&](Slot& slot) {
    if (of && &game.plays[slot.play] != of) return false;
    if (slot.trial && slot.trial->task) evaluators_->drop(*slot.trial->task);
    return true;
  });
}

Result<void> Controller::learn(Driver& driver, const Attempt& attempt) {
  try {
    driver.learn(attempt.proposal, attempt.verdict);
    return {};
  } catch (const std::exception& error) {
    return fail("driver {}: {}", driver.name(), error.what());
  }
}

} // namespace asmevo::search
