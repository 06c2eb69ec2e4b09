// A block with guarded regions in a better order.
#pragma once

#include "search/drivers/rewrite/schedule.h"

namespace asmevo::search::rewrite {

/// The edits that put a block in that order, its guarded regions taken apart: each instruction runs under the mask of
/// its region, wherever it stands. None where the block has no such regions, uses EXEC in another way, or there are no
/// registers for the masks. Waits are left to the caller.
std::vector<recover::Edit> scheduled_with_guards(const Facts& facts, const analysis::Block& block, Order order,
                                                 const std::vector<Apart>& pairs = {});

} // namespace asmevo::search::rewrite
