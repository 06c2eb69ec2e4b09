// 32-bit floats that differ a little, which is what most results of candidates with a tolerance are: millions of
// elements, all of them numbers within their bounds. The loops have no branches and are compiled for several
// instruction sets; operations and their order are the same in all.
#pragma once

#include "oracle/ulp_histogram.h"

#include <optional>
#include <span>

namespace asmevo::oracle {

/// How far an element may be off: floor + relative * |expected|.
struct Bound {
  double floor = 0, relative = 0;
};

struct Near {
  uint64_t differing = 0;    // elements whose bits differ
  double largest_excess = 0; // the largest |got - expected| / bound
  double dot = 0, expected_square = 0, got_square = 0;
  UlpHistogram ulps;
};

/// At most this many elements at once.
inline constexpr uint64_t near_block = 4096;

/// Nothing where an element of either is no number, or is out of its bound. As many bytes of one as of the other.
std::optional<Near> compare_near(std::span<const uint8_t> expected, std::span<const uint8_t> got, const Bound& bound);

} // namespace asmevo::oracle
