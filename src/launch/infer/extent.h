// Which bytes behind a pointer are touched.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace asmevo::launch {

/// A set of bytes, as intervals [first, last) relative to a pointer.
class Extent {
public:
  void add(int64_t first, int64_t last);
  void add(const Extent& other);

  bool empty() const { return intervals_.empty(); }
  int64_t low() const;  // of the first byte; 0 when empty
  int64_t high() const; // behind the last byte; 0 when empty
  uint64_t bytes() const;
  bool overlaps(const Extent& other) const;
  bool operator==(const Extent& other) const;

private:
  void tidy() const;

  mutable std::vector<std::pair<int64_t, int64_t>> intervals_; // sorted and disjoint after tidy()
  mutable bool tidy_ = true;
};

} // namespace asmevo::launch
