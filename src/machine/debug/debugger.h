// The watcher behind Debugging: it tells what was asked for and changes nothing.
#pragma once

#include "machine/debug/debugging.h"
#include "machine/dispatch.h"
#include "machine/places.h"
#include "machine/watcher.h"

namespace asmevo::machine {

/// One run's debugging: all its workgroups, on one thread.
class Debugger {
public:
  Debugger(const LaunchPlan& plan, const Debugging& request);

  /// For a workgroup that is about to start. Must not outlive this.
  std::unique_ptr<Watcher> watcher();
  /// Wave-instructions by instruction.
  std::vector<uint64_t> take_coverage() { return std::move(executed_); }

private:
  friend class DebugWatcher;

  const LaunchPlan& plan_;
  const Debugging& request_;
  std::vector<uint64_t> executed_;       // empty where nobody asks
  std::vector<AccessShape> shapes_;      // an instruction each; empty where nothing is traced
  std::vector<uint8_t> traced_, dumped_; // instructions that a filter or a request may be about
};

} // namespace asmevo::machine
