// Where to look next: pairs of a hot window and a direction.
//
// Whoever is asked for "something faster" proposes the same thing again and again. A question about one window and one
// direction gets another answer, and what is worth asking is known: how much time stands in the window for reasons that
// the direction helps against.
#pragma once

#include "search/driver.h"

namespace asmevo::search {

struct RankedFocus {
  size_t window = 0; // its rank
  Direction direction = Direction::latency_hiding;
  double worth = 0;
};

/// All pairs that have time to gain, the most of it first.
std::vector<RankedFocus> rank_foci(std::span<const HotWindow> windows);

} // namespace asmevo::search
