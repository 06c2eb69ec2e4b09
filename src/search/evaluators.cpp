#include "search/evaluators.h"

#include <algorithm>
#include <chrono>

namespace asmevo::search {
namespace {

constexpr auto patience = std::chrono::milliseconds(10); // between looks at `stop`

} // namespace

Evaluators::Evaluators(std::span<gate::Bench* const> benches, const gate::Known& known, const volatile bool* stop)
    : known_(known), stop_(stop) {
  for (gate::Bench* bench : benches)
    threads_.emplace_back([this, bench](const std::stop_token& ended) { work(*bench, ended); });
}

Evaluators::~Evaluators() {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.clear();
    for (const auto& task : running_) task->stop = task->dropped = true;
  }
  threads_.clear(); // asks each to stop and waits for it
}

void Evaluators::begin(std::shared_ptr<Task> task) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_all();
}

Result<std::optional<gate::Evaluation>> Evaluators::end(Task& task) {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, patience, [&] { return task.result.has_value(); })) {
    if (!stop_ || !*stop_) continue;
    waiting_.clear();
    for (const auto& running : running_) running->stop = true;
    if (std::ranges::find(running_, &task, &std::shared_ptr<Task>::get) == running_.end() && !task.result)
      return std::nullopt;
  }
  return *std::move(task.result);
}

void Evaluators::drop(Task& task) {
  const std::scoped_lock lock(mutex_);
  task.stop = task.dropped = true;
  std::erase_if(waiting_, [&](const auto& waiting) { return waiting.get() == &task; });
}

/// Evaluations behind one that is about to be accepted will have been for nothing. They stop, and go on only if it is
/// refused after all.
void Evaluators::hold_back_behind(Task& promising) {
  const std::scoped_lock lock(mutex_);
  promising.promising = true;
  for (const auto& task : running_)
    if (task->turn == promising.turn && task->number > promising.number) task->stop = true;
}

bool Evaluators::is_held(const Task& task) const {
  return std::ranges::any_of(running_, [&](const auto& running) {
    return running->promising && running->turn == task.turn && running->number < task.number;
  });
}

/// The first task that may begin, or null.
std::shared_ptr<Task> Evaluators::take() {
  const auto first = std::ranges::find_if(waiting_, [&](const auto& task) { return !is_held(*task); });
  if (first == waiting_.end()) return nullptr;
  running_.splice(running_.end(), waiting_, first);
  return running_.back();
}

void Evaluators::work(gate::Bench& bench, const std::stop_token& ended) {
  const volatile bool* outer = bench.stop;
  std::unique_lock lock(mutex_);
  std::shared_ptr<Task> task;
  while (changed_.wait(lock, ended, [&] { return (task = take()) != nullptr; })) {
    lock.unlock();
    bench.stop = &task->stop;
    bench.on_stage = [&](std::string_view stage) {
      if (stage == "second equivalence") hold_back_behind(*task);
    };
    const auto began = std::chrono::steady_clock::now();
    auto result = gate::evaluate(gate::Edited{&task->at->program, task->edits, task->auto_waits}, task->parent_speedup,
                                 task->number, known_, bench);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
    lock.lock();
    running_.remove(task);
    changed_.notify_all();
    const bool was_held = result && !*result && !task->dropped && !(stop_ && *stop_) && !ended.stop_requested();
    if (was_held) {
      task->stop = false;
      waiting_.push_front(task);
      continue;
    }
    task->seconds = seconds.count();
    task->result = std::move(result);
  }
  bench.stop = outer;
  bench.on_stage = nullptr;
}

} // namespace asmevo::search
