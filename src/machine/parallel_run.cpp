// Workgroups on several threads (see access_log.h for why that is allowed).
#include "machine/access_log.h"
#include "machine/scheduler.h"

#include <atomic>
#include <new>
#include <thread>

namespace asmevo::machine {

namespace {

// A workgroup that goes on for longer may be waiting for another one; the serial order knows how to handle that.
constexpr uint64_t patience = uint64_t{1} << 26;
// Below this many instructions threads cost more than they save.
constexpr uint64_t worth_it = 100'000;

/// What the threads share.
struct Shared {
  const Selection& selection;
  const Memory& memory;
  const Scratch& scratch;
  Limits limits;
  std::atomic<uint64_t> next{0}, finished{0}, instructions{0};
  std::atomic<bool> disorder{false}; // the serial order must decide
  std::atomic<int> ended{-1};        // a Status that ends the run: stopped, or out of time
};

/// One thread's part.
struct Worker {
  Shared& shared;
  AccessLog log;
  Residence residence;
  Totals totals;
  std::vector<std::unique_ptr<Tracer>> tracers;
  std::unique_ptr<Watcher> watcher; // of the workgroup that runs
  bool reports;

  Worker(Shared& s, Snapshots& snapshots, uint32_t slot)
      : shared(s), log(snapshots), residence(s.selection.plan, s.memory, s.scratch, slot), reports(slot == 0) {}

  bool interrupted() const { return shared.disorder || shared.ended >= 0; }

  void run_all() {
    try {
      while (!interrupted()) {
        const uint64_t k = shared.next++;
        if (k >= shared.selection.count()) return;
        run_one(shared.selection.workgroup(k));
      }
    } catch (const std::bad_alloc&) { // of a log or a snapshot; the serial order needs neither
      shared.disorder = true;
    }
  }

  void run_one(uint32_t id) {
    const RunOptions& options = shared.selection.options;
    if (shared.selection.traced(id)) tracers.push_back(std::make_unique<Tracer>(id, shared.selection.plan.max_waves));
    log.begin(id);
    residence.begin(id, shared.selection.traced(id) ? tracers.back().get() : nullptr, &log);
    watcher = shared.selection.watching.of(residence.group());
    residence.watch(watcher.get());
    Executor executor = executor_of(options, id);
    uint64_t done = 0;
    Turn turn;
    while (turn.end == TurnEnd::limit && !interrupted()) {
      turn = executor.run(residence, clock_interval);
      done += turn.instructions;
      if (auto status = shared.limits.expired()) shared.ended = int(*status);
      if (done > patience) shared.disorder = true;
    }
    totals.instructions += done;
    if ((shared.instructions += done) >= options.instruction_budget) shared.disorder = true;
    if (turn.end == TurnEnd::limit) return;
    if (turn.end != TurnEnd::finished) shared.disorder = true;
    totals.finish(residence);
    const uint64_t finished = ++shared.finished;
    if (reports && options.progress) options.progress(finished, shared.selection.count());
  }
};

} // namespace

bool run_parallel(const Selection& selection, Memory& memory, const Scratch& scratch, uint32_t threads,
                  RunResult& result, Totals& totals) {
  Snapshots snapshots(memory);
  Shared shared{selection, memory, scratch, Limits(selection.options)};
  std::vector<std::unique_ptr<Worker>> workers;
  workers.push_back(std::make_unique<Worker>(shared, snapshots, 0));
  // The first workgroup shows what is written, and how much work there is.
  workers[0]->log.track_all();
  workers[0]->run_one(selection.workgroup(shared.next++));
  if (shared.instructions * selection.count() < worth_it) threads = 1;
  for (uint32_t k = 1; k < threads; ++k) workers.push_back(std::make_unique<Worker>(shared, snapshots, k));
  for (auto& worker : workers) worker->log.track_written();
  {
    std::vector<std::jthread> helpers;
    for (uint32_t k = 1; k < threads; ++k) helpers.emplace_back([&worker = *workers[k]] { worker.run_all(); });
    workers[0]->run_all();
  }

  std::vector<AccessLog*> logs;
  for (auto& worker : workers) logs.push_back(&worker->log);
  const bool orderly = !shared.disorder && (shared.ended >= 0 || independent(logs, snapshots));
  if (!orderly) {
    snapshots.restore();
    return false;
  }
  std::vector<std::unique_ptr<Tracer>> tracers;
  for (auto& worker : workers) {
    totals.add(worker->totals);
    totals.see(worker->residence.approximate_seen());
    for (auto& tracer : worker->tracers) tracers.push_back(std::move(tracer));
  }
  result.trace = merge_traces(std::move(tracers));
  if (shared.ended >= 0) {
    result.status = Status(shared.ended.load());
    for (auto& worker : workers)
      take_standing(selection.plan, worker->residence,
                    result.status == Status::stopped ? "stopped" : "the wall-clock budget is spent", result);
  }
  return true;
}

} // namespace asmevo::machine
