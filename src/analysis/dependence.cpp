#include "analysis/dependence.h"

#include "analysis/addresses.h"
#include "analysis/memory.h"

#include <algorithm>

namespace asmevo::analysis {
namespace {

using isa::Instruction;
using recover::Function;
using recover::Program;

/// Everything before stays before and everything after stays after. s_getpc_b64 gives the address behind itself, which
/// a listing spells as the label there: nothing may come between.
bool is_fence(const Instruction& i) {
  if (i.traits.branch || i.traits.terminator || i.encoding == isa::Encoding::unknown) return true;
  if (name_of(i) == "s_getpc_b64") return true;
  if (!i.traits.side_effects || i.traits.barrier || i.traits.vmem || i.traits.smem || i.traits.lds) return false;
  const std::string_view name = name_of(i);
  return !name.starts_with("s_setprio") && !name.starts_with("s_sleep") && !name.starts_with("s_sendmsg");
}

/// Keeps its place among memory accesses and its like.
bool is_memory_fence(const Instruction& i) { return i.traits.barrier || i.traits.side_effects; }

struct Touch {
  MemoryAccess access;
  std::vector<uint32_t> versions; // of the base registers
};

class Builder {
public:
  Builder(const Program& program, const Function& function, const Addresses* addresses)
      : program_(program), addresses_(addresses), graph_of_function_(control_flow(program, function)),
        stores_(program, function, graph_of_function_), registers_(program, function),
        kernarg_(kernarg_pointer(program, function)) {
    if (kernarg_ && is_written(function, *kernarg_)) kernarg_.reset();
  }

  DependenceGraph build(size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const recover::Item& item = program_.items[i];
      if (is_instruction(item) && only_waits(item.instruction)) continue;
      if (item.kind == recover::ItemKind::label && graph_.items.empty()) continue;
      add(i);
    }
    for (uint32_t n = 0; n < graph_.items.size(); ++n)
      for (const Dependence& d : graph_.predecessors[n]) graph_.successors[d.node].push_back({n, d.kind, d.unit});
    return std::move(graph_);
  }

private:
  bool is_written(const Function& function, uint16_t pair) const {
    for (size_t i = function.first; i < function.last; ++i) {
      if (!is_instruction(program_.items[i])) continue;
      for (const isa::RegisterRange& def : program_.items[i].instruction.defs)
        if (def.overlaps({isa::File::sgpr, pair, 2})) return true;
    }
    return false;
  }

  void edge(uint32_t from, uint32_t to, DependenceKind kind, size_t unit = 0) {
    if (from == to) return;
    auto& list = graph_.predecessors[to];
    const auto same = [&](const Dependence& d) { return d.node == from && d.kind == kind; };
    if (std::ranges::any_of(list, same)) return;
    list.push_back({from, kind, static_cast<uint16_t>(unit)});
  }

  void add(size_t item) {
    const auto node = static_cast<uint32_t>(graph_.items.size());
    graph_.items.push_back(item);
    graph_.predecessors.emplace_back();
    graph_.successors.emplace_back();
    const recover::Item& what = program_.items[item];
    const bool fence = !is_instruction(what) || is_fence(what.instruction);
    if (fence) {
      for (uint32_t n = fence_ == none ? 0 : fence_; n < node; ++n)
        graph_.predecessors[node].push_back({n, DependenceKind::order, 0});
      fence_ = node;
    } else if (fence_ != none) {
      edge(fence_, node, DependenceKind::order);
    }
    if (!is_instruction(what)) {
      touches_.emplace_back();
      return;
    }
    add_memory(node, what.instruction);
    add_registers(node, what.instruction);
  }

  void add_registers(uint32_t node, const Instruction& i) {
    registers_.each(i.uses, [&](size_t unit) {
      if (writer_[unit] != none) edge(writer_[unit], node, DependenceKind::read_after_write, unit);
      readers_[unit].push_back(node);
    });
    registers_.each(i.defs, [&](size_t unit) {
      if (writer_[unit] != none) edge(writer_[unit], node, DependenceKind::write_after_write, unit);
      for (uint32_t reader : readers_[unit]) edge(reader, node, DependenceKind::write_after_read, unit);
    });
    registers_.each(i.defs, [&](size_t unit) {
      writer_[unit] = node;
      readers_[unit].clear();
      ++version_[unit];
    });
  }

  Touch touch_of(const Instruction& i) const {
    Touch touch{memory_access(i), {}};
    if (is_memory_fence(i)) touch.access.space = Space::control;
    registers_.each(touch.access.base, [&](size_t unit) { touch.versions.push_back(version_[unit]); });
    // Nothing writes the kernarg segment while the kernel runs.
    const bool kernarg = kernarg_ && touch.access.space == Space::scalar && !touch.access.stores &&
                         touch.access.base == std::vector{isa::RegisterRange{isa::File::sgpr, *kernarg_, 2}};
    if (kernarg) touch.access.space = Space::none;
    return touch;
  }

  void add_memory(uint32_t node, const Instruction& i) {
    const size_t item = graph_.items[node];
    Touch touch = touch_of(i);
    if (touch.access.space != Space::none)
      for (uint32_t n = 0; n < node; ++n) {
        const Touch& earlier = touches_[n];
        const bool same_base = earlier.access.base == touch.access.base && earlier.versions == touch.versions;
        const bool disjoint = addresses_ && addresses_->may_trade_places(graph_.items[n], item);
        if (must_keep_order(earlier.access, touch.access, same_base) && !disjoint && !passes_barrier(n, node))
          graph_.predecessors[node].push_back({n, DependenceKind::memory, 0});
      }
    touches_.push_back(std::move(touch));
  }

  /// Whether one is a barrier and the other a load that may stand on either side of it.
  bool passes_barrier(uint32_t earlier, uint32_t later) const {
    const auto plain_load = [](const recover::Item& item) {
      const MemoryAccess access = memory_access(item.instruction);
      return access.space == Space::global && access.loads && !access.stores && !access.coherent;
    };
    const auto barrier = [&](uint32_t n) { return program_.items[graph_.items[n]].instruction.traits.barrier; };
    if (barrier(earlier) && plain_load(program_.items[graph_.items[later]]))
      return !stores_.before(graph_.items[earlier]);
    if (barrier(later) && plain_load(program_.items[graph_.items[earlier]]))
      return !stores_.behind(graph_.items[later]);
    return false;
  }

  static constexpr uint32_t none = 0xffffffff;

  const Program& program_;
  const Addresses* addresses_;
  Graph graph_of_function_;
  BarrierStores stores_;
  RegisterMap registers_;
  std::optional<uint16_t> kernarg_;
  DependenceGraph graph_;
  uint32_t fence_ = none;
  std::vector<uint32_t> writer_ = std::vector<uint32_t>(register_bits, none);
  std::vector<std::vector<uint32_t>> readers_ = std::vector<std::vector<uint32_t>>(register_bits);
  std::vector<uint32_t> version_ = std::vector<uint32_t>(register_bits, 0);
  std::vector<Touch> touches_; // by node
};

} // namespace

bool only_waits(const Instruction& i) {
  return i.traits.waitcnt || (i.encoding == isa::Encoding::sopp && name_of(i) == "s_nop");
}

bool DependenceGraph::allows(std::span<const uint32_t> order) const {
  std::vector<size_t> position(items.size(), items.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] >= items.size() || position[order[i]] != items.size()) return false;
    position[order[i]] = i;
  }
  if (order.size() != items.size()) return false;
  for (uint32_t n = 0; n < items.size(); ++n)
    for (const Dependence& d : predecessors[n])
      if (position[d.node] > position[n]) return false;
  return true;
}

DependenceGraph dependences(const Program& program, const Function& function, size_t first, size_t last,
                            const Addresses* addresses) {
  return Builder(program, function, addresses).build(first, last);
}

} // namespace asmevo::analysis
