#include "launch/infer/extent.h"

#include <algorithm>

namespace asmevo::launch {

void Extent::add(int64_t first, int64_t last) {
  if (!intervals_.empty() && intervals_.back().second == first) { // lanes of one access, mostly
    intervals_.back().second = last;
    return;
  }
  tidy_ = intervals_.empty();
  intervals_.emplace_back(first, last);
  if (intervals_.size() % 65536 == 0) tidy();
}

void Extent::add(const Extent& other) {
  for (auto [first, last] : other.intervals_) add(first, last);
}

void Extent::tidy() const {
  if (tidy_) return;
  std::ranges::sort(intervals_);
  size_t kept = 0;
  for (size_t i = 1; i < intervals_.size(); ++i) {
    if (intervals_[i].first <= intervals_[kept].second)
      intervals_[kept].second = std::max(intervals_[kept].second, intervals_[i].second);
    else
      intervals_[++kept] = intervals_[i];
  }
  intervals_.resize(kept + 1);
  tidy_ = true;
}

int64_t Extent::low() const {
  tidy();
  return intervals_.empty() ? 0 : intervals_.front().first;
}

int64_t Extent::high() const {
  tidy();
  return intervals_.empty() ? 0 : intervals_.back().second;
}

uint64_t Extent::bytes() const {
  tidy();
  uint64_t sum = 0;
  for (auto [first, last] : intervals_) sum += uint64_t(last - first);
  return sum;
}

bool Extent::overlaps(const Extent& other) const {
  tidy();
  other.tidy();
  auto a = intervals_.begin(), b = other.intervals_.begin();
  while (a != intervals_.end() && b != other.intervals_.end()) {
    if (a->second <= b->first)
      ++a;
    else if (b->second <= a->first)
      ++b;
    else
      return true;
  }
  return false;
}

bool Extent::operator==(const Extent& other) const {
  tidy();
  other.tidy();
  return intervals_ == other.intervals_;
}

} // namespace asmevo::launch
