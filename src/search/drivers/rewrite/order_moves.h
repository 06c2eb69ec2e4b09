// One instruction of a block moved, and with it what has to move too.
#pragma once

#include "analysis/dependence.h"

#include <optional>

namespace asmevo::search::rewrite {

/// `order`, an order of the nodes of `graph` that it allows, with the node at `place` moved to the front by `by`
/// places, or to the back where that is negative, as far as the block goes. What the node needs, or what needs it, on
/// the way moves with it, in the order that it has. Nothing where that is more than a few nodes, or nothing moves.
std::optional<std::vector<uint32_t>> moved(const analysis::DependenceGraph& graph, const std::vector<uint32_t>& order,
                                           size_t place, int by);

} // namespace asmevo::search::rewrite
