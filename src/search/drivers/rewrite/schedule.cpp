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
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace asmevo::search::rewrite {

namespace {

/// Clocks from issue to use, roughly; the orders only need their ratio. Sources: docs/timing-model.md.
double latency_of(const isa::Instruction& i) {
  constexpr std::array transcendental = {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"};
  if (i.traits.vmem && i.traits.may_load) return 500;
  if (i.traits.smem) return 200;
  if (i.traits.lds) return 64;
  if (i.traits.mfma) return 64;
  std::string_view name = isa::name_of(i);
  if (std::ranges::any_of(transcendental, [&](std::string_view prefix) { return name.starts_with(prefix); })) return 16;
  return i.traits.valu ? 8 : 4;
}
constexpr double issue_clocks = 4;

using analysis::DependenceGraph;

/// The longest latency path from each node to the end of the block.
std::vector<double> heights(const Facts& facts, const DependenceGraph& graph) {
  std::vector<double> height(graph.items.size(), 0);
  for (size_t node = graph.items.size(); node-- > 0;) {
    double latency = latency_of(facts.instruction(graph.items[node]));
    height[node] = latency;
    for (const analysis::Dependence& next : graph.successors[node]) {
      double distance = next.kind == analysis::DependenceKind::read_after_write ? latency : issue_clocks;
      height[node] = std::max(height[node], distance + height[next.node]);
    }
  }
  return height;
}

/// Nodes that something slow hangs on: loads and what computes their addresses.
std::vector<bool> leads_to_loads(const Facts& facts, const DependenceGraph& graph) {
  std::vector<bool> leads(graph.items.size(), false);
  for (size_t node = graph.items.size(); node-- > 0;) {
    const isa::Traits& traits = facts.instruction(graph.items[node]).traits;
    leads[node] = traits.may_load && !traits.may_store;
    for (const analysis::Dependence& next : graph.successors[node])
      if (next.kind == analysis::DependenceKind::read_after_write && leads[next.node]) leads[node] = true;
  }
  return leads;
}

/// Repeatedly issues the ready node that `better` prefers, among those whose operands have arrived if there are any.
template <class Better>
std::vector<uint32_t> list_schedule(const Facts& facts, const DependenceGraph& graph, Better better) {
  size_t count = graph.items.size();
  std::vector<size_t> waiting(count);
  std::vector<double> ready_at(count, 0);
  std::vector<uint32_t> ready, order;
  for (uint32_t node = 0; node < count; ++node) {
    waiting[node] = graph.predecessors[node].size();
    if (waiting[node] == 0) ready.push_back(node);
  }
  for (double clock = 0; !ready.empty(); clock += issue_clocks) {
    auto arrived = [&](uint32_t node) { return ready_at[node] <= clock; };
    auto best = std::ranges::min_element(
        ready, [&](uint32_t a, uint32_t b) { return arrived(a) != arrived(b) ? arrived(a) : better(a, b); });
    uint32_t node = *best;
    ready.erase(best);
    order.push_back(node);
    clock = std::max(clock, std::min(ready_at[node], clock + 64)); // a wave that waits lets others issue
    for (const analysis::Dependence& next : graph.successors[node]) {
      double distance = next.kind == analysis::DependenceKind::read_after_write
                            ? latency_of(facts.instruction(graph.items[node]))
                            : issue_clocks;
      ready_at[next.node] = std::max(ready_at[next.node], clock + distance);
      if (--waiting[next.node] == 0) ready.push_back(next.node);
    }
  }
  return order;
}

/// The block in the new order with its waits and nops, where that is another order that keeps every dependence.
std::vector<recover::Edit> reordered(const Facts& facts, const DependenceGraph& graph,
                                     const std::vector<uint32_t>& order) {
  if (std::ranges::is_sorted(order) || !graph.allows(order)) return {};
  std::vector<size_t> items;
  for (uint32_t node : order) items.push_back(graph.items[node]);
  return analysis::reorder(facts.program, facts.function, graph.items.front(), graph.items.back() + 1, items);
}

std::vector<uint32_t> order_of(const Facts& facts, const DependenceGraph& graph, Order order) {
  if (order == Order::critical_path) {
    const std::vector<double> height = heights(facts, graph);
    return list_schedule(
        facts, graph, [&](uint32_t a, uint32_t b) { return height[a] != height[b] ? height[a] > height[b] : a < b; });
  }
  const std::vector<bool> slow = leads_to_loads(facts, graph);
  return list_schedule(facts, graph, [&](uint32_t a, uint32_t b) { return slow[a] != slow[b] ? slow[a] : a < b; });
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
                                     const analysis::Addresses* addresses) {
  const DependenceGraph graph =
      analysis::dependences(facts.program, facts.function, block.first, block.last, addresses);
  return graph.items.size() < 3 ? std::vector<recover::Edit>() : reordered(facts, graph, order_of(facts, graph, order));
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
      ideas.push_back({std::move(edits), {}, fmt::format("one block {}", flavours[i].rationale), promise});
    }
  }
  for (Flavour& flavour : flavours) {
    if (flavour.everywhere.edits.size() < 2) continue; // one block has its own idea already
    flavour.everywhere.rationale = fmt::format("all blocks {}", flavour.rationale);
    ideas.push_back(std::move(flavour.everywhere));
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
