// List scheduling of a block.
//
// A wave issues in order, so while it waits for one thing it issues nothing. Compilers order instructions for a machine
// model and for register pressure; on a binary the registers are fixed, and what is left to win is to start what takes
// long early and to put independent work between a producer and its consumer. The dependence graph says what may move;
// waits and hazard nops are not part of it and are inserted anew for the order that comes out.
//
// Two orders are proposed for each block: by longest latency path (every instruction as the critical path wants it),
// and the gentler one that only hoists what takes long (loads, their addresses) and leaves the rest as it was.
#include "search/drivers/rewrite/schedule.h"
#include "analysis/dependence.h"
#include "analysis/repair.h"
#include "search/drivers/rewrite/apart.h"
#include "search/drivers/rewrite/list_schedule.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

using analysis::DependenceGraph;

/// The block in the new order with its waits and nops, where that is another order that keeps every dependence.
std::vector<recover::Edit> reordered(const Facts& facts, const DependenceGraph& graph,
                                     const std::vector<uint32_t>& order) {
  if (std::ranges::is_sorted(order) || !graph.allows(order)) return {};
  std::vector<size_t> items;
  for (uint32_t node : order) items.push_back(graph.items[node]);
  return analysis::reorder(facts.program, facts.function, graph.items.front(), graph.items.back() + 1, items);
}

/// Adds edits to an idea, unless they overlap what it has.
void add(Idea& idea, const std::vector<recover::Edit>& edits, double promise) {
  std::vector<recover::Edit> both = idea.edits;
  both.insert(both.end(), edits.begin(), edits.end());
  std::ranges::stable_sort(both, {}, &recover::Edit::first);
  for (size_t i = 1; i < both.size(); ++i)
    if (both[i].first < both[i - 1].last || both[i].first == both[i - 1].first) return;
  idea.edits = std::move(both);
  idea.promise += promise;
}

} // namespace

std::vector<recover::Edit> scheduled(const Facts& facts, const analysis::Block& block, Order order,
                                     const analysis::Addresses* addresses, const std::vector<Apart>& pairs) {
  DependenceGraph graph = analysis::dependences(facts.program, facts.function, block.first, block.last, addresses);
  forget_order(facts.program, graph, pairs);
  return graph.items.size() < 3 ? std::vector<recover::Edit>()
                                : reordered(facts, graph, list_schedule(facts.program, graph, order));
}

std::vector<Idea> schedule_blocks(const Facts& facts) {
  struct Flavour {
    Order order;
    const char* rationale;
    Idea everywhere;
  };
  std::array<Flavour, 2> flavours{{{Order::critical_path, "scheduled by critical path", {}},
                                   {Order::loads_first, "loads and their addresses hoisted", {}}}};
  std::vector<Idea> ideas;
  const analysis::Addresses addresses(facts.program, facts.function, facts.graph);
  for (const analysis::Block& block : facts.graph.blocks) {
    for (size_t i = 0; i < flavours.size(); ++i) {
      std::vector<recover::Edit> edits = scheduled(facts, block, flavours[i].order, &addresses);
      if (edits.empty()) continue;
      double promise = facts.heat_of(block.first, block.last);
      add(flavours[i].everywhere, edits, promise);
      ideas.push_back({std::move(edits), {}, fmt::format("one block {}", flavours[i].rationale), promise, unsigned(i)});
    }
  }
  for (Flavour& flavour : flavours) {
    if (flavour.everywhere.edits.size() < 2) continue; // one block has its own idea already
    flavour.everywhere.rationale = fmt::format("all blocks {}", flavour.rationale);
    flavour.everywhere.variant = unsigned(&flavour - flavours.data());
    ideas.push_back(std::move(flavour.everywhere));
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
