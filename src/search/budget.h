// How much a search may spend: evaluations, wall time, or both, whichever ends first.
#pragma once

#include "support/result.h"

#include <cstdint>
#include <string_view>

namespace asmevo::search {

struct Budget {
  int64_t evaluations = 0; // 0: unbounded
  double seconds = 0;      // 0: unbounded

  bool spent(int64_t done, double elapsed) const {
    return (evaluations > 0 && done >= evaluations) || (seconds > 0 && elapsed >= seconds);
  }
};

/// "200" evaluations, "90s", "10m", "2h", or both: "200,10m". Errors: anything else, zero, one kind twice.
Result<Budget> parse_budget(std::string_view text);

} // namespace asmevo::search
