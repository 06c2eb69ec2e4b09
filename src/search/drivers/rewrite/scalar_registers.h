// Scalar registers that rules may use.
#pragma once

#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

/// The most scalar registers with which as many waves fit as now; 0 for device functions.
uint16_t sgpr_budget(const Facts& facts);

/// Up to `count` single registers or aligned pairs that no instruction of a kernel names and that cost no wave.
std::vector<isa::RegisterRange> unused_sgprs(const Facts& facts, size_t count, uint16_t width = 1);

} // namespace asmevo::search::rewrite
