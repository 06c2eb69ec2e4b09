// Which watchers the workgroups of a run have, from its options.
#pragma once

#include "machine/debug/debugger.h"
#include "machine/dispatch.h"
#include "machine/late_loads.h"
#include "machine/strict/strict.h"

namespace asmevo::machine {

class Watching {
public:
  Watching(const LaunchPlan& plan, const RunOptions& options);

  /// Whether every instruction is executed under watch.
  static bool wanted(const RunOptions& options);
  /// Whether workgroups must run in order on one thread, because what is asked for is about all of them.
  static bool needs_order(const RunOptions& options);

  /// The watcher of a workgroup that is about to start; null where nobody looks. Any thread may ask.
  std::unique_ptr<Watcher> of(const Workgroup& group);

  /// What they have found, when the run has ended and all of them are gone.
  void finish(RunResult& result);

private:
  std::shared_ptr<const LateTable> late_;
  std::unique_ptr<strict::Strict> strict_;
  std::unique_ptr<Debugger> debugger_;
};

} // namespace asmevo::machine
