// The text of a divergence: what differs, by how much, and where in the shape.
//
// It is read by people and by agents that must repair the candidate without seeing K0's source, so it gives each number
// in both forms (decimal says how wrong, hex says what kind of wrong) and says which part of the shape is affected:
// "rows 60 to 63" is a tail, "columns 1 to 1023" a broadcast of the first.
#pragma once

#include "oracle/compare.h"

namespace asmevo::oracle {

/// A few lines about a comparison that did not pass.
std::string describe(const Expected& expected, std::span<const uint8_t> got, const Comparison& comparison,
                     const launch::Tolerance& tolerance);

} // namespace asmevo::oracle
