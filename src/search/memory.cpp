#include "search/memory.h"

#include <algorithm>

namespace asmevo::search {

void Memory::note(const Failure& failure) {
  auto same_kind = [&](const Failure& known) {
    return known.window == failure.window && known.direction == failure.direction && known.rule == failure.rule &&
           known.outcome == failure.outcome;
  };
  Failure latest = failure;
  if (auto known = std::ranges::find_if(failures_, same_kind); known != failures_.end()) {
    latest.count += known->count;
    failures_.erase(known);
  } else if (failures_.size() == most) {
    failures_.erase(failures_.begin());
  }
  failures_.push_back(std::move(latest));
}

int64_t Memory::count(uint64_t window) const {
  int64_t sum = 0;
  for (const Failure& failure : failures_) sum += failure.window == window ? failure.count : 0;
  return sum;
}

int64_t Memory::count(uint64_t window, Direction direction) const {
  int64_t sum = 0;
  for (const Failure& failure : failures_)
    sum += failure.window == window && failure.direction == direction ? failure.count : 0;
  return sum;
}

} // namespace asmevo::search
