#include "search/drivers/rewrite/masked_order.h"

#include "recover/recover.h"
#include "search/drivers/rewrite/local.h"

#include <algorithm>

namespace asmevo::search::rewrite {

std::optional<size_t> MaskedItems::mask(size_t item) const {
  const auto at = mask_of.find(item);
  return at == mask_of.end() ? std::nullopt : std::optional(at->second);
}

void add_masks(analysis::DependenceGraph& graph, const MaskedItems& items) {
  constexpr auto kind = analysis::DependenceKind::read_after_write;
  std::vector<std::optional<uint32_t>> maker(items.masks.size());
  for (uint32_t node = 0; node < graph.items.size(); ++node) {
    const size_t item = graph.items[node];
    if (const auto mask = items.mask(item); mask && maker[*mask]) {
      const uint32_t from = *maker[*mask];
      const auto known = [&](const analysis::Dependence& d) { return d.node == from && d.kind == kind; };
      if (std::ranges::none_of(graph.predecessors[node], known)) {
        const uint16_t unit = items.masks[*mask].first;
        graph.predecessors[node].push_back({from, kind, unit});
        graph.successors[from].push_back({node, kind, unit});
      }
    }
    for (size_t m = 0; m < items.masks.size(); ++m)
      if (writes(items.program.items[item].instruction, items.masks[m])) maker[m] = node;
  }
}

std::vector<uint32_t> masked_schedule(const MaskedItems& items, const analysis::DependenceGraph& graph, Order order) {
  std::optional<size_t> last;
  const auto nearer = [&](uint32_t node) {
    return items.mask(graph.items[node]).value_or(last.value_or(0)) == last.value_or(0);
  };
  const auto issued = [&](uint32_t node) {
    if (const auto mask = items.mask(graph.items[node])) last = mask;
  };
  return list_schedule(items.program, graph, order, nearer, issued);
}

std::string masked_text(const MaskedItems& items, const analysis::DependenceGraph& graph,
                        const std::vector<uint32_t>& order, const std::function<std::string(size_t item)>& behind) {
  std::string text;
  size_t now = 0;
  const auto go_to = [&](size_t mask) {
    if (mask != now) text += fmt::format("s_mov_b64 exec, {}\n", register_text(items.masks[mask]));
    now = mask;
  };
  for (const uint32_t node : order) {
    const size_t item = graph.items[node];
    if (items.program.items[item].instruction.traits.branch)
      go_to(0);
    else if (const auto mask = items.mask(item))
      go_to(*mask);
    text += recover::print_items(items.program, item, item + 1);
    if (const std::string more = behind ? behind(item) : ""; !more.empty()) {
      go_to(0);
      text += more;
    }
  }
  go_to(0);
  return text;
}

} // namespace asmevo::search::rewrite
