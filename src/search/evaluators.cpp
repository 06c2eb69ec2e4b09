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
    for (const auto& task : running_) task->stop = true;
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
  task.stop = true;
  std::erase_if(waiting_, [&](const auto& waiting) { return waiting.get() == &task; });
}

void Evaluators::work(gate::Bench& bench, const std::stop_token& ended) {
  const volatile bool* outer = bench.stop;
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, ended, [&] { return !waiting_.empty(); })) {
    const std::shared_ptr<Task> task = std::move(waiting_.front());
    waiting_.pop_front();
    running_.push_back(task);
    lock.unlock();
    bench.stop = &task->stop;
    const auto began = std::chrono::steady_clock::now();
    auto result = gate::evaluate(gate::Edited{&task->at->program, task->edits, task->auto_waits}, task->parent_speedup,
                                 task->number, known_, bench);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
    lock.lock();
    task->seconds = seconds.count();
    task->result = std::move(result);
    running_.remove(task);
    changed_.notify_all();
  }
  bench.stop = outer;
}

} // namespace asmevo::search
