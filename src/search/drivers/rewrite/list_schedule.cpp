// List scheduling.
//
// Instructions are taken one by one: of those whose operands have arrived, the one that the order prefers. What the
// dependence graph does not say is not looked at: waits and hazard nops are inserted for the order that comes out.
#include "search/drivers/rewrite/list_schedule.h"

#include <algorithm>
#include <array>

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
std::vector<double> heights(const recover::Program& program, const DependenceGraph& graph) {
  std::vector<double> height(graph.items.size(), 0);
  for (size_t node = graph.items.size(); node-- > 0;) {
    double latency = latency_of(program.items[graph.items[node]].instruction);
    height[node] = latency;
    for (const analysis::Dependence& next : graph.successors[node]) {
      double distance = next.kind == analysis::DependenceKind::read_after_write ? latency : issue_clocks;
      height[node] = std::max(height[node], distance + height[next.node]);
    }
  }
  return height;
}

/// Nodes that something slow hangs on: loads and what computes their addresses.
std::vector<bool> leads_to_loads(const recover::Program& program, const DependenceGraph& graph) {
  std::vector<bool> leads(graph.items.size(), false);
  for (size_t node = graph.items.size(); node-- > 0;) {
    const isa::Traits& traits = program.items[graph.items[node]].instruction.traits;
    leads[node] = traits.may_load && !traits.may_store;
    for (const analysis::Dependence& next : graph.successors[node])
      if (next.kind == analysis::DependenceKind::read_after_write && leads[next.node]) leads[node] = true;
  }
  return leads;
}

/// Repeatedly issues the ready node that `better` prefers, among those whose operands have arrived if there are any.
template <class Better> std::vector<uint32_t> taken_by(const recover::Program& program, const DependenceGraph& graph,
                                                       Better better, const std::function<void(uint32_t)>& issued) {
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
    if (issued) issued(node);
    clock = std::max(clock, std::min(ready_at[node], clock + 64)); // a wave that waits lets others issue
    for (const analysis::Dependence& next : graph.successors[node]) {
      double distance = next.kind == analysis::DependenceKind::read_after_write
                            ? latency_of(program.items[graph.items[node]].instruction)
                            : issue_clocks;
      ready_at[next.node] = std::max(ready_at[next.node], clock + distance);
      if (--waiting[next.node] == 0) ready.push_back(next.node);
    }
  }
  return order;
}

} // namespace

std::vector<uint32_t> list_schedule(const recover::Program& program, const DependenceGraph& graph, Order order,
                                    const std::function<bool(uint32_t)>& nearer,
                                    const std::function<void(uint32_t)>& issued) {
  const auto alike = [&](uint32_t a, uint32_t b) {
    const bool near_a = nearer && nearer(a), near_b = nearer && nearer(b);
    return near_a != near_b ? near_a : a < b;
  };
  if (order == Order::critical_path) {
    const std::vector<double> height = heights(program, graph);
    return taken_by(
        program, graph,
        [&](uint32_t a, uint32_t b) { return height[a] != height[b] ? height[a] > height[b] : alike(a, b); }, issued);
  }
  const std::vector<bool> slow = leads_to_loads(program, graph);
  return taken_by(
      program, graph, [&](uint32_t a, uint32_t b) { return slow[a] != slow[b] ? slow[a] : alike(a, b); }, issued);
}

} // namespace asmevo::search::rewrite
