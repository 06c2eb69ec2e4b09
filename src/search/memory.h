// What did not work, for those who would try it again.
//
// A list of all refused candidates is of no use: it grows, and most of it is about code that is there no more. So
// refusals are counted by what they have in common (the code of the window, the direction, the rule and the reason)
// and the kinds that were met longest ago are forgotten first.
#pragma once

#include "search/driver.h"

namespace asmevo::search {

class Memory {
public:
  static constexpr size_t most = 256; // kinds

  void note(const Failure& failure);
  std::span<const Failure> failures() const { return failures_; }
  /// Refusals in this window, at all and in this direction.
  int64_t count(uint64_t window) const;
  int64_t count(uint64_t window, Direction direction) const;

private:
  std::vector<Failure> failures_; // the latest last
};

} // namespace asmevo::search
