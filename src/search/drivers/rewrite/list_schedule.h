// Orders of the nodes of a dependence graph.
#pragma once

#include "analysis/dependence.h"
#include "search/drivers/rewrite/schedule.h"

#include <functional>

namespace asmevo::search::rewrite {

/// A list schedule of `graph`, whose items are those of `program`. Among nodes that the order thinks alike those come
/// first for which `nearer` holds; `issued` hears of each node that was taken.
std::vector<uint32_t> list_schedule(const recover::Program& program, const analysis::DependenceGraph& graph,
                                    Order order, const std::function<bool(uint32_t)>& nearer = {},
                                    const std::function<void(uint32_t)>& issued = {});

} // namespace asmevo::search::rewrite
