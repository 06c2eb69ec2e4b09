// Who works on what next.
//
// Workers are players in turns and no threads: a worker has a driver, a version that it tries to improve and a focus. A
// turn is a number of evaluations that ends early when one of them is accepted or the driver has no more ideas. Turns
// are planned a round at a time, from what has been settled and nothing else, so that the plan of a run is the same
// whatever ran at the same time.
//
// A search stalls in two ways. The driver has nothing more to say, or what it says is refused again and again. A worker
// that has spent `stall` evaluations without a commit is sent to another window and direction of its version, where
// much time stands and little has failed; after `patience` such moves, or without ideas, it goes back to another
// verified version. Each move is a Decision with its reason, kept in the lineage.
//
// In a team every worker has a direction of its own and they begin where they can at versions that differ. Evaluations
// go where they paid: a worker's share of a round follows what its evaluations have gained so far.
#pragma once

#include "search/decision.h"
#include "search/distance.h"
#include "search/memory.h"
#include "search/standpoint.h"

#include <functional>
#include <map>
#include <set>

namespace asmevo::search {

struct PlanSettings {
  int64_t team = 1;     // workers
  int64_t turn = 16;    // evaluations of a turn; in a team, on average
  int64_t stall = 32;   // evaluations of a worker without a commit before it is moved
  int64_t patience = 3; // moves within a version before it is left
};

struct Turn {
  size_t worker = 0;
  int64_t version = root_version;
  Focus focus;
  int64_t length = 0;
};

struct Round {
  std::vector<Turn> turns; // empty: nobody has ideas
  std::vector<Decision> decisions;
};

class Plan {
public:
  using Look = std::function<Result<std::shared_ptr<const Standpoint>>(int64_t version)>;

  explicit Plan(const PlanSettings& settings);

  Result<Round> next(const std::vector<Version>& versions, const Memory& memory, const Look& look);
  /// An evaluation of this worker has ended. `made` is its version, if accepted, and null otherwise.
  void settled(size_t worker, const Version* made, double parent_speedup);
  /// The driver of this worker has no more ideas for its focus.
  void exhausted(size_t worker);
  /// Where a worker goes on when its version was merged into `version` or a driver chose its own.
  void move(size_t worker, int64_t version);
  /// Its branch leads nowhere: it goes back to another version, if there is one.
  void leave(size_t worker) { workers_[worker].leaves = true; }
  int64_t version_of(size_t worker) const { return workers_[worker].version; }

private:
  struct Worker {
    int64_t version = root_version;
    Focus focus;
    uint64_t window = 0; // its key; 0: the whole kernel
    int64_t idle = 0;    // evaluations since the last commit or move
    int64_t moves = 0;   // within the version, since the last commit
    bool dry = false;    // no more ideas for the focus
    bool leaves = false; // its branch, which cannot be merged or need not be
    size_t out = 0;      // nor anywhere else: how many versions there were then
    double gain = 0;     // sum of the logarithms of what its versions gained
    int64_t evaluations = 0;
  };
  /// Version, window and direction, both 0 for all of them.
  using Place = std::tuple<int64_t, uint64_t, int>;
  static Place place(const Worker& worker);
  static int number_of(const std::optional<Direction>& direction) { return direction ? int(*direction) + 1 : 0; }

  Result<bool> redirect(size_t w, const Memory& memory, const Look& look, Round& round);
  bool widen(size_t w, Round& round);
  bool backtrack(size_t w, const std::vector<Version>& versions, Round& round);
  bool is_dry(int64_t version) const { return dry_.contains({version, 0, 0}); }
  std::optional<Direction> free_direction(size_t w, int64_t version) const;
  bool taken(size_t w, int64_t version, const std::optional<Direction>& direction) const;
  double share(const Worker& worker) const;
  void deal(Round& round);
  std::string why(const Worker& worker) const;

  PlanSettings settings_;
  std::vector<Worker> workers_;
  std::set<Place> dry_;
  std::map<int64_t, int64_t> visits_;       // of versions, by moves
  std::map<int64_t, Signature> signatures_; // of versions
  std::vector<int64_t> lengths_;            // of the last round's turns, by worker
};

} // namespace asmevo::search
