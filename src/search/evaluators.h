// Threads that evaluate candidates.
//
// Each has a bench of its own: its codec, its device, what it remembers of proofs. They share K0, the reference and
// what is known of earlier candidates. Which thread gets which candidate, and when, changes nothing about verdicts but
// which duplicates were noticed early; gate::recognise() makes up for that when verdicts are settled in their order.
#pragma once

#include "gate/pipeline.h"
#include "search/standpoint.h"

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

namespace asmevo::search {

/// One evaluation.
struct Task {
  std::shared_ptr<const Standpoint> at; // what the edits are of
  std::vector<recover::Edit> edits;
  bool auto_waits = false;
  double parent_speedup = 1;
  int64_t number = 0; // gate::evaluate()'s
  int64_t turn = 0;   // an acceptance makes the later ones of its turn useless

  std::optional<Result<std::optional<gate::Evaluation>>> result; // guarded by the mutex of the Evaluators
  double seconds = 0;
  volatile bool stop = false;
  bool promising = false; // fast enough: what is left is to verify it again
  bool dropped = false;
};

class Evaluators {
public:
  /// A thread for each bench. What is passed must outlive it; `stop` may be null.
  Evaluators(std::span<gate::Bench* const> benches, const gate::Known& known, const volatile bool* stop);
  ~Evaluators();
  Evaluators(const Evaluators&) = delete;
  Evaluators& operator=(const Evaluators&) = delete;

  size_t threads() const { return threads_.size(); }
  void begin(std::shared_ptr<Task> task);
  /// Waits for the end of a task. Nothing when `stop` was set.
  Result<std::optional<gate::Evaluation>> end(Task& task);
  /// Nobody waits for it any more.
  void drop(Task& task);

private:
  void work(gate::Bench& bench, const std::stop_token& ended);
  void hold_back_behind(Task& promising);
  bool is_held(const Task& task) const;
  std::shared_ptr<Task> take();

  const gate::Known& known_;
  const volatile bool* stop_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::list<std::shared_ptr<Task>> waiting_, running_;
  std::vector<std::jthread> threads_;
};

} // namespace asmevo::search
