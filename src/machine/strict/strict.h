// Strict mode: a sanitizer for machine code.
//
// A missing wait or wait state, a race, a register that nobody has set: such code is right on most days and on most
// chips. Strict mode does not run it until luck fails, it looks at every instruction before it executes and asks what
// makes it right. What a path alone decides, waits and wait states, is judged once a path (path.h); registers are
// followed until they are written (registers.h); memory has shadow cells that say who touched it last (memory.h) and an
// order of waves to hold that against (order.h). What is found is a fact about the code and never changes the run.
#pragma once

#include "machine/watcher.h"

#include "machine/dispatch.h"

namespace asmevo::machine::strict {

/// Strict mode for one run: all its workgroups, on one thread.
class Strict {
public:
  explicit Strict(const LaunchPlan& plan);
  ~Strict();

  /// For a workgroup that is about to start. Must not outlive this.
  std::unique_ptr<Watcher> watcher(const Workgroup& group);
  StrictReport take();

  struct Impl;

private:
  std::unique_ptr<Impl> impl_;
};

} // namespace asmevo::machine::strict
