#include "search/drivers/rewrite/pairing.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace asmevo::search::rewrite {

Pairing::Pairing(const analysis::DependenceGraph& graph)
    : graph_(graph), issued_with_(graph.items.size()), partner_(graph.items.size()) {
  std::iota(issued_with_.begin(), issued_with_.end(), 0U);
}

bool Pairing::join(uint32_t a, uint32_t b) {
  if (partner_[a] || partner_[b] || reaches(a, b) || reaches(b, a)) return false;
  partner_[a] = b;
  partner_[b] = a;
  issued_with_[a] = b;
  return true;
}

// Whether `to` has to come after `from`, with the pairs that there are.
bool Pairing::reaches(uint32_t from, uint32_t to) const {
  std::vector<bool> seen(issued_with_.size(), false);
  std::vector<uint32_t> open = {from};
  const auto visit = [&](uint32_t node) {
    if (!seen[node]) open.push_back(node);
    seen[node] = true;
  };
  while (!open.empty()) {
    const uint32_t node = open.back();
    open.pop_back();
    for (const analysis::Dependence& next : graph_.successors[node]) {
      visit(next.node);
      if (partner_[next.node]) visit(*partner_[next.node]);
    }
    if (seen[to]) return true;
  }
  return false;
}

std::vector<uint32_t> Pairing::order() const {
  std::vector<size_t> waiting(issued_with_.size(), 0);
  for (uint32_t node = 0; node < issued_with_.size(); ++node)
    waiting[issued_with_[node]] += graph_.predecessors[node].size();
  std::set<uint32_t> ready;
  for (uint32_t node = 0; node < issued_with_.size(); ++node)
    if (issued_with_[node] == node && waiting[node] == 0) ready.insert(node);
  std::vector<uint32_t> order;
  const auto issue = [&](uint32_t node) {
    for (const analysis::Dependence& next : graph_.successors[node])
      if (--waiting[issued_with_[next.node]] == 0) ready.insert(issued_with_[next.node]);
  };
  while (!ready.empty()) {
    const uint32_t node = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(node);
    issue(node);
    if (partner_[node]) issue(*partner_[node]);
  }
  return order;
}

std::optional<recover::Edit> in_order(const Facts& facts, const analysis::DependenceGraph& graph,
                                      const std::vector<uint32_t>& order,
                                      const std::function<std::string(uint32_t)>& text_of) {
  size_t end = order.size();
  while (end > 0 && facts.instruction(graph.items[order[end - 1]]).traits.branch) --end;
  if (end == 0) return std::nullopt;
  std::string text;
  for (size_t k = 0; k < end; ++k) text += text_of(order[k]);
  const size_t last = end == order.size() ? graph.items.back() + 1 : graph.items[order[end]];
  return recover::Edit{graph.items.front(), last, text};
}

std::string selection(std::string_view name, const std::vector<bool>& bits, bool usual) {
  if (std::ranges::find(bits, !usual) == bits.end()) return {};
  std::string text = fmt::format(" {}:[", name);
  for (size_t k = 0; k < bits.size(); ++k) text += fmt::format("{}{:d}", k ? "," : "", bool(bits[k]));
  return text + "]";
}

} // namespace asmevo::search::rewrite
