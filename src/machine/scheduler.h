// Running all workgroups of a dispatch: in order, or on several threads and then checked.
#pragma once

#include "machine/execute.h"
#include "machine/tracer.h"
#include "machine/watching.h"

#include <algorithm>

namespace asmevo::machine {

inline constexpr uint64_t clock_interval = uint64_t{1} << 20; // instructions between looks at the clock

/// When a run has to end early.
class Limits {
public:
  Limits(const RunOptions& options)
      : options_(options), deadline_(std::chrono::steady_clock::now() + options.wall_budget) {}

  /// Instructions that may still run before the next check; 0 when the budget is spent.
  uint64_t allowance(uint64_t done, uint64_t wanted) const {
    return done >= options_.instruction_budget ? 0
                                               : std::min({wanted, options_.instruction_budget - done, clock_interval});
  }
  std::optional<Status> expired() const {
    if (options_.stop && *options_.stop) return Status::stopped;
    if (std::chrono::steady_clock::now() > deadline_) return Status::budget;
    return std::nullopt;
  }

private:
  const RunOptions& options_;
  std::chrono::steady_clock::time_point deadline_;
};

/// What several workgroups add up to.
struct Totals {
  uint64_t instructions = 0, waves = 0, approximate = 0;
  std::vector<uint8_t> approximate_seen;

  void finish(Residence& residence) {
    for (const Wave& w : residence.waves()) approximate += w.approximate;
    waves += residence.waves().size();
  }
  void add(const Totals& other) {
    instructions += other.instructions, waves += other.waves, approximate += other.approximate;
  }
  void see(const std::vector<uint8_t>& seen) {
    approximate_seen.resize(seen.size());
    for (size_t k = 0; k < seen.size(); ++k) approximate_seen[k] |= seen[k];
  }
};

/// A workgroup on the device, with what is particular to it.
struct Place {
  std::unique_ptr<Residence> residence;
  std::unique_ptr<Tracer> tracer;
  std::unique_ptr<Watcher> watcher;
  std::optional<Executor> executor;
};

/// The order in which waves take turns must not depend on which thread runs the workgroup.
inline Executor executor_of(const RunOptions& options, uint32_t workgroup) {
  return Executor(options.schedule, options.seed ^ (workgroup * 0x9e3779b97f4a7c15));
}

/// The workgroups to run, in order, and which of them to trace.
struct Selection {
  const LaunchPlan& plan;
  const RunOptions& options;
  Watching& watching;

  uint64_t count() const { return options.only_traced ? options.traced.size() : plan.workgroups; }
  uint32_t workgroup(uint64_t k) const { return options.only_traced ? options.traced[k] : uint32_t(k); }
  bool traced(uint32_t id) const { return std::binary_search(options.traced.begin(), options.traced.end(), id); }
};

/// Traces of several workgroups as one, in the order of their ids.
Trace merge_traces(std::vector<std::unique_ptr<Tracer>> tracers);

/// Says in `result` where the waves of a workgroup stand that ended early, and makes the first the run's fault.
void take_standing(const LaunchPlan& plan, Residence& residence, std::string_view message, RunResult& result);

/// `slots` workgroups at most are on the device at a time.
void run_serial(const Selection& selection, Memory& memory, const Scratch& scratch, uint32_t slots, RunResult& result,
                Totals& totals);

/// Runs workgroups on `threads` threads, with a slot of scratch for each. False, with memory as it was before, where
/// the workgroups turned out to depend on each other or anything but an orderly end happened: then only the serial
/// order says what the result is.
bool run_parallel(const Selection& selection, Memory& memory, const Scratch& scratch, uint32_t threads,
                  RunResult& result, Totals& totals);

} // namespace asmevo::machine
