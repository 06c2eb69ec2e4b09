// How far results are from K0's, counted in representable values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>

namespace asmevo::oracle {

/// Elements by distance: [0] the same, [k] from 2^(k-1) to 2^k - 1 units in the last place; the last one takes the
/// rest, and NaN or infinity instead of a number.
struct UlpHistogram {
  std::array<uint64_t, 34> counts{};

  void add(uint64_t distance) { ++counts[std::min<size_t>(size_t(std::bit_width(distance)), counts.size() - 1)]; }
  void add(const UlpHistogram& other) {
    for (size_t k = 0; k < counts.size(); ++k) counts[k] += other.counts[k];
  }
  uint64_t elements() const;
  bool all_equal() const { return elements() == counts[0]; }
};

/// "99.2 % equal, 0.7 % at 1 ulp, 0.1 % further, up to 63 ulp". Results near zero are far away in ulp and equal by any
/// other measure.
std::string describe(const UlpHistogram& histogram);

} // namespace asmevo::oracle
