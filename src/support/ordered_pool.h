// Work of many pieces on several threads, with the results in the order of the pieces.
//
// Pieces can be large (a code object each) and a corpus of them larger than memory. So the one that hands them out
// waits while enough of them are on their way: what is held at any time is bounded by the number of threads, not by the
// corpus. Results are expected to be small; they wait until all before them are there.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace asmevo {

/// `State` is what each thread keeps from piece to piece.
template <class State, class Result> class OrderedPool {
public:
  using Task = std::function<Result(State&)>;

  /// `take` gets one result at a time, in order, on any thread.
  OrderedPool(unsigned threads, std::function<void(Result)> take) : take_(std::move(take)) {
    for (unsigned i = 0; i < std::max(threads, 1u); i++) threads_.emplace_back([this] { work(); });
  }
  OrderedPool(const OrderedPool&) = delete;
  OrderedPool& operator=(const OrderedPool&) = delete;
  ~OrderedPool() { finish(); }

  /// Waits while each thread has a piece in hand and one in waiting.
  void add(Task task) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return waiting_.size() < threads_.size(); });
    waiting_.emplace_back(next_++, std::move(task));
    work_.notify_one();
  }

  /// Waits until every result has been taken.
  void finish() {
    {
      std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

private:
  void work() {
    State state{};
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      auto [number, task] = std::move(waiting_.front());
      waiting_.pop_front();
      room_.notify_one();
      lock.unlock();
      Result result = task(state);
      task = nullptr; // what it held is gone before the next is taken
      lock.lock();
      done_.emplace(number, std::move(result));
      for (auto first = done_.begin(); first != done_.end() && first->first == taken_; first = done_.begin()) {
        take_(std::move(first->second));
        done_.erase(first);
        taken_++;
      }
    }
  }

  std::function<void(Result)> take_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable work_, room_;
  std::deque<std::pair<size_t, Task>> waiting_;
  std::map<size_t, Result> done_;
  size_t next_ = 0, taken_ = 0;
  bool closed_ = false;
};

} // namespace asmevo
