#include "machine/watching.h"

namespace asmevo::machine {

Watching::Watching(const LaunchPlan& plan, const RunOptions& options) {
  if (options.schedule == Schedule::late_loads) late_ = make_late_table(*plan.image);
  if (options.strict) strict_ = std::make_unique<strict::Strict>(plan);
  if (options.debugging) debugger_ = std::make_unique<Debugger>(plan, *options.debugging);
}

bool Watching::wanted(const RunOptions& options) {
  return options.schedule == Schedule::late_loads || options.strict || options.debugging;
}

bool Watching::needs_order(const RunOptions& options) { return options.strict || options.debugging; }

std::unique_ptr<Watcher> Watching::of(const Workgroup& group) {
  std::vector<std::unique_ptr<Watcher>> watchers;
  if (strict_) watchers.push_back(strict_->watcher(group));
  if (late_) watchers.push_back(make_late_loads(late_));
  if (debugger_) watchers.push_back(debugger_->watcher()); // last: it sees what the load has brought
  return combined(std::move(watchers));
}

void Watching::finish(RunResult& result) {
  if (strict_) result.strict = strict_->take();
  if (debugger_) result.executed = debugger_->take_coverage();
}

} // namespace asmevo::machine
