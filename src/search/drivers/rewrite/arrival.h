// Where a value must have arrived that is loaded by other means than before.
#pragma once

#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

/// Where a value loaded at `item` must have arrived in `range`: the first item behind it that reads or writes it or
/// changes EXEC (a later move would reach other lanes than the load did), or the end of the block.
size_t arrival(const Facts& facts, const analysis::Block& block, size_t item, const isa::RegisterRange& range);

} // namespace asmevo::search::rewrite
