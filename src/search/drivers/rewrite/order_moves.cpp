#include "search/drivers/rewrite/order_moves.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

constexpr size_t most_companions = 8;

using Links = std::vector<std::vector<analysis::Dependence>>;

/// As moved() to the front; `links` are the predecessors.
std::optional<std::vector<uint32_t>> moved_to_front(const Links& links, const std::vector<uint32_t>& order,
                                                    size_t place, size_t by) {
  const size_t target = place - std::min(place, by);
  std::vector<bool> moves(order.size(), false); // by node
  moves[order[place]] = true;
  size_t count = 1;
  for (size_t at = place + 1; at-- > target;) {
    if (!moves[order[at]]) continue;
    for (const analysis::Dependence& needed : links[order[at]])
      if (!moves[needed.node]) moves[needed.node] = true;
  }
  std::vector<uint32_t> result(order.begin(), order.begin() + std::ptrdiff_t(target));
  const auto take = [&](bool moving) {
    for (size_t at = target; at <= place; ++at)
      if (moves[order[at]] == moving) result.push_back(order[at]);
  };
  take(true);
  count = result.size() - target;
  if (count > most_companions || count == place - target + 1) return std::nullopt;
  take(false);
  result.insert(result.end(), order.begin() + std::ptrdiff_t(place) + 1, order.end());
  return result;
}

} // namespace

std::optional<std::vector<uint32_t>> moved(const analysis::DependenceGraph& graph, const std::vector<uint32_t>& order,
                                           size_t place, int by) {
  if (by >= 0) return moved_to_front(graph.predecessors, order, place, size_t(by));
  // To the back is to the front of the order read backwards.
  const std::vector<uint32_t> backwards(order.rbegin(), order.rend());
  auto result = moved_to_front(graph.successors, backwards, order.size() - 1 - place, size_t(-by));
  if (result) std::ranges::reverse(*result);
  return result;
}

} // namespace asmevo::search::rewrite
