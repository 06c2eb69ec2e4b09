#include "search/plan.h"

#include "search/foci.h"

#include <algorithm>
#include <cmath>

namespace asmevo::search {
namespace {

/// What a worker that has done nothing yet is taken to have gained, so that each gets its chance: 1 % in 20
/// evaluations.
constexpr double expected_gain = 0.01, expected_evaluations = 20;
/// Of the mean turn, what a worker that gains nothing still gets.
constexpr double least_share = 0.25;

std::string focus_text(const Focus& focus) {
  std::string text = focus.direction ? fmt::format("{}", direction_name(*focus.direction)) : "any direction";
  if (focus.window) text += fmt::format(" in items [{}, {})", focus.window->first, focus.window->last);
  return text;
}

} // namespace

Plan::Plan(const PlanSettings& settings) : settings_(settings), workers_(size_t(settings.team)) {
  if (settings.team > 1)
    for (size_t w = 0; w < workers_.size(); ++w) workers_[w].focus.direction = Direction(w % direction_count);
  lengths_.assign(workers_.size(), settings.turn);
}

Plan::Place Plan::place(const Worker& worker) {
  return {worker.version, worker.window, number_of(worker.focus.direction)};
}

void Plan::settled(size_t w, const Version* made, double parent_speedup) {
  Worker& worker = workers_[w];
  ++worker.evaluations;
  ++worker.idle;
  if (!made) return;
  worker.gain += std::log(made->speedup / parent_speedup);
  move(w, made->id);
}

void Plan::exhausted(size_t w) {
  workers_[w].dry = true;
  dry_.insert(place(workers_[w]));
}

void Plan::move(size_t w, int64_t version) {
  Worker& worker = workers_[w];
  worker.version = version;
  worker.focus.window.reset();
  worker.window = 0;
  if (settings_.team == 1) worker.focus.direction.reset();
  worker.idle = worker.moves = 0;
  worker.dry = worker.leaves = false;
  worker.out = 0;
}

std::string Plan::why(const Worker& worker) const {
  if (worker.leaves) return fmt::format("version {} is not worth going on with", worker.version);
  return worker.dry ? fmt::format("no more ideas for version {} and {}", worker.version, focus_text(worker.focus))
                    : fmt::format("{} evaluations without a commit", worker.idle);
}

Result<Round> Plan::next(const std::vector<Version>& versions, const Memory& memory, const Look& look) {
  Round round;
  for (size_t w = 0; w < workers_.size(); ++w) {
    Worker& worker = workers_[w];
    if (worker.out == versions.size()) continue;
    if (worker.dry || worker.leaves || worker.idle >= settings_.stall) {
      bool moved = worker.leaves && backtrack(w, versions, round);
      worker.leaves = false;
      if (!moved && !worker.dry && worker.moves < settings_.patience) {
        AE_TRY(moved, redirect(w, memory, look, round));
      }
      if (!moved && worker.dry) moved = widen(w, round);
      if (!moved) moved = backtrack(w, versions, round);
      if (!moved && worker.dry) {
        worker.out = versions.size();
        continue;
      }
      if (!moved) { // nowhere else to go: all of the version once more
        if (worker.window != 0) widen(w, round);
        worker.moves = 0;
      }
      worker.idle = 0;
    }
    round.turns.push_back({.worker = w, .version = worker.version, .focus = worker.focus});
  }
  deal(round);
  return round;
}

bool Plan::taken(size_t w, int64_t version, const std::optional<Direction>& direction) const {
  for (size_t other = 0; other < workers_.size(); ++other)
    if (other != w && workers_[other].version == version && workers_[other].focus.direction == direction) return true;
  return false;
}

/// Another window and direction of the same version.
Result<bool> Plan::redirect(size_t w, const Memory& memory, const Look& look, Round& round) {
  Worker& worker = workers_[w];
  AE_TRY(const std::shared_ptr<const Standpoint> at, look(worker.version));
  const RankedFocus* best = nullptr;
  double most = 0;
  const std::vector<RankedFocus> foci = rank_foci(at->windows);
  for (const RankedFocus& focus : foci) {
    const uint64_t key = at->windows[focus.window].key;
    const double worth = focus.worth / double(1 + memory.count(key, focus.direction));
    if (worth <= most || dry_.contains({worker.version, key, number_of(focus.direction)})) continue;
    if (key == worker.window && focus.direction == worker.focus.direction) continue;
    if (settings_.team > 1 && taken(w, worker.version, focus.direction)) continue;
    most = worth;
    best = &focus;
  }
  if (!best) return false;
  const HotWindow& window = at->windows[best->window];
  const std::string reason =
      fmt::format("{}; items [{}, {}) are window {} by modelled time, bound by {}, and {} of {} refusals there were {}",
                  why(worker), window.range.first, window.range.last, best->window + 1, window.window.bound(),
                  memory.count(window.key, best->direction), memory.count(window.key), direction_name(best->direction));
  worker.focus = {window.range, best->direction};
  worker.window = window.key;
  ++worker.moves;
  round.decisions.push_back({.worker = int64_t(w),
                             .kind = DecisionKind::redirect,
                             .version = worker.version,
                             .focus = worker.focus,
                             .reason = reason});
  return true;
}

/// Directions of the team that nobody else has at this version, in their order from the worker's own on.
std::optional<Direction> Plan::free_direction(size_t w, int64_t version) const {
  for (size_t k = 0; k < direction_count; ++k) {
    const auto direction = Direction((w + k) % direction_count);
    if (!dry_.contains({version, 0, int(direction) + 1}) && !taken(w, version, direction)) return direction;
  }
  return std::nullopt;
}

/// Out of ideas for a part of a version: all of it, in a team another direction.
bool Plan::widen(size_t w, Round& round) {
  Worker& worker = workers_[w];
  Focus wider;
  if (settings_.team > 1) wider.direction = free_direction(w, worker.version);
  if (dry_.contains({worker.version, 0, number_of(wider.direction)})) return false;
  const std::string reason = why(worker);
  worker.focus = wider;
  worker.window = 0;
  worker.dry = false;
  round.decisions.push_back({.worker = int64_t(w),
                             .kind = DecisionKind::redirect,
                             .version = worker.version,
                             .focus = wider,
                             .reason = reason});
  return true;
}

/// Another verified version: one that was left least often, then one that is fast and unlike those that are worked on.
bool Plan::backtrack(size_t w, const std::vector<Version>& versions, Round& round) {
  Worker& worker = workers_[w];
  for (const Version& version : versions)
    if (!signatures_.contains(version.id)) signatures_[version.id] = signature_of(version.listing);
  ++visits_[worker.version];
  const Version* best = nullptr;
  std::pair<int64_t, double> most{};
  for (const Version& version : versions) {
    if (version.id == worker.version || is_dry(version.id)) continue;
    double nearest = 1;
    for (const Worker& other : workers_)
      nearest = std::min(nearest, distance(signatures_[version.id], signatures_[other.version]));
    const std::pair score{-visits_[version.id], version.speedup * (1 + nearest)};
    if (best && score <= most) continue;
    best = &version;
    most = score;
  }
  if (!best) return false;
  const std::string reason =
      fmt::format("{}; version {} ({:.3f}x) was left {} times", why(worker), best->id, best->speedup, -most.first);
  const std::optional<Direction> direction = settings_.team > 1 ? free_direction(w, best->id) : std::nullopt;
  move(w, best->id);
  worker.focus.direction = direction;
  round.decisions.push_back({.worker = int64_t(w),
                             .kind = DecisionKind::backtrack,
                             .version = best->id,
                             .focus = worker.focus,
                             .reason = reason});
  return true;
}

/// What an evaluation of this worker gains, with a little that every worker is believed to.
double Plan::share(const Worker& worker) const {
  return (worker.gain + expected_gain) / (double(worker.evaluations) + expected_evaluations);
}

/// Lengths of the turns: evaluations go where they paid.
void Plan::deal(Round& round) {
  double sum = 0;
  for (const Turn& turn : round.turns) sum += share(workers_[turn.worker]);
  const double mean = double(settings_.turn), all = mean * double(round.turns.size());
  for (Turn& turn : round.turns) {
    const double part = share(workers_[turn.worker]) / sum;
    turn.length = std::max<int64_t>(1, std::lround(mean * least_share + all * (1 - least_share) * part));
    int64_t& before = lengths_[turn.worker];
    if (std::abs(turn.length - before) * 4 > settings_.turn) {
      const Worker& worker = workers_[turn.worker];
      round.decisions.push_back(
          {.worker = int64_t(turn.worker),
           .kind = DecisionKind::share,
           .version = turn.version,
           .focus = turn.focus,
           .reason = fmt::format("{} evaluations a round instead of {}: {} gained {:.1f} % so far", turn.length, before,
                                 worker.evaluations, std::expm1(worker.gain) * 100)});
      before = turn.length;
    }
  }
}

} // namespace asmevo::search
