// Constants that replacements need and windows do not have: the width of a mask, the distance of two shifts, the powers
// of two that a factor is made of.
#pragma once

#include "search/drivers/superopt/sequence.h"

namespace asmevo::search::superopt {

struct Derived {
  std::vector<uint32_t> factors; // of shifts in place of multiplications: longer sequences need them
  std::vector<uint32_t> others;
};

Derived derived_constants(const Sequence& window);

} // namespace asmevo::search::superopt
