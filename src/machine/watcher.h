// Watchers: who looks at every instruction of a workgroup while it runs.
//
// Strict mode, late loads and debugging all need to see an instruction before and after it executes, and some change
// what it did. None of that may cost a run that asks for none of it, so the plain loop knows nothing of watchers: a
// workgroup that has one is run by the watcher's own loop instead.
#pragma once

#include "machine/workgroup.h"

#include <memory>

namespace asmevo::machine {

class Watcher {
public:
  virtual ~Watcher() = default;
  /// The workgroup's waves are ready to start.
  virtual void begin(std::span<Wave> waves) = 0;
  /// `w` is about to execute instruction `index` of the image.
  virtual void before(Wave& w, uint32_t index) = 0;
  /// It has; w.next is where it goes on.
  virtual void after(Wave& w, uint32_t index) = 0;
  /// Runs up to `quantum` instructions and says how many.
  virtual uint32_t run(Wave& w, uint32_t quantum);
};

/// Several as one: `before` in order, `after` in reverse.
std::unique_ptr<Watcher> combined(std::vector<std::unique_ptr<Watcher>> watchers);

/// Executes the next instruction of a wave, whatever its modes.
void step(Wave& w);

} // namespace asmevo::machine
