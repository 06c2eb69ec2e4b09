#include "analysis/cfg.h"

#include <algorithm>
#include <unordered_map>

namespace asmevo::analysis {
namespace {

using isa::name_of;
using recover::Function;
using recover::Item;
using recover::ItemKind;
using recover::Program;

bool ends_block(const Item& item) {
  return is_instruction(item) && (item.instruction.traits.branch || item.instruction.traits.terminator) &&
         !is_call(item.instruction);
}

std::vector<Block> cut(const Program& program, const Function& function) {
  std::vector<Block> blocks;
  size_t first = function.first;
  const auto close = [&](size_t last) {
    if (last > first) blocks.push_back({.first = first, .last = last});
    first = last;
  };
  for (size_t i = function.first; i < function.last; ++i) {
    const Item& item = program.items[i];
    // Several labels in a row stay in one block with what they name.
    if (item.kind == ItemKind::label && !(i > first && program.items[i - 1].kind == ItemKind::label)) close(i);
    if (ends_block(item) || (is_instruction(item) && is_call(item.instruction))) close(i + 1);
  }
  close(function.last);
  return blocks;
}

/// The pair of registers that s_setpc_b64 reads.
uint16_t jump_register(const isa::Instruction& jump) {
  for (const isa::RegisterRange& use : jump.uses)
    if (use.file == isa::File::sgpr && use.count == 2) return use.first;
  return 0xffff;
}

/// The label that a far branch (s_getpc_b64, s_add_u32 with a label, s_addc_u32, s_setpc_b64) goes to.
std::string_view far_target(const Program& program, const Block& block) {
  const uint16_t pair = jump_register(program.items[block.last - 1].instruction);
  std::string_view target;
  for (size_t i = block.last - 1; i-- > block.first;) {
    const Item& item = program.items[i];
    if (!is_instruction(item)) continue;
    const auto writes = [&](uint16_t reg) {
      return std::ranges::any_of(item.instruction.defs, [&](const isa::RegisterRange& def) {
        return def.overlaps({isa::File::sgpr, reg, 1});
      });
    };
    if (!writes(pair) && !writes(static_cast<uint16_t>(pair + 1))) continue;
    const std::string_view name = name_of(item.instruction);
    if (name == "s_getpc_b64") return target;
    if (!name.starts_with("s_add") && !name.starts_with("s_sub")) return {};
    if (!item.target.empty()) target = item.target;
  }
  return {};
}

/// Where a second entry begins when the firmware fills kernel arguments into SGPRs: 256 bytes behind the first.
/// Source: LLVM AMDGPUUsage, "Preloaded Kernel Arguments".
size_t preload_entry(const Program& program, const Function& function) {
  if (function.kernel < 0 || !program.origin) return function.last;
  const auto& kernels = program.origin->kernels;
  if (static_cast<size_t>(function.kernel) >= kernels.size()) return function.last;
  const auto& kernel = kernels[function.kernel];
  if ((kernel.descriptor.kernarg_preload() & 0x7f) == 0) return function.last;
  const auto address = static_cast<int64_t>(kernel.entry_address) + 256;
  for (size_t i = function.first; i < function.last; ++i)
    if (is_instruction(program.items[i]) && program.items[i].origin == address) return i;
  return function.last;
}

class Builder {
public:
  Builder(const Program& program, const Function& function) : program_(program), function_(function) {
    graph_.blocks = cut(program, function);
    split(preload_entry(program, function));
    graph_.block_of.resize(function.last - function.first);
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b)
      for (size_t i = graph_.blocks[b].first; i < graph_.blocks[b].last; ++i) {
        graph_.block_of[i - function.first] = b;
        if (program.items[i].kind == ItemKind::label) labels_.emplace(program.items[i].text, b);
      }
  }

  Graph build() {
    if (graph_.blocks.empty()) return std::move(graph_);
    graph_.entries = {0};
    if (const size_t entry = preload_entry(program_, function_); entry < function_.last)
      graph_.entries.push_back(graph_.block_of[entry - function_.first]);
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b) connect(b);
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b) {
      auto& successors = graph_.blocks[b].successors;
      std::ranges::sort(successors);
      successors.erase(std::ranges::unique(successors).begin(), successors.end());
      for (uint32_t s : successors) graph_.blocks[s].predecessors.push_back(b);
    }
    return std::move(graph_);
  }

private:
  void split(size_t item) {
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      Block& block = graph_.blocks[b];
      if (item <= block.first || item >= block.last) continue;
      graph_.blocks.insert(graph_.blocks.begin() + static_cast<std::ptrdiff_t>(b) + 1,
                           {.first = item, .last = block.last});
      graph_.blocks[b].last = item;
      return;
    }
  }

  /// The last item that does something; data after a branch is not reached.
  const Item& last_item(const Block& block) const { return program_.items[block.last - 1]; }

  void fall_through(uint32_t b) {
    Block& block = graph_.blocks[b];
    for (size_t i = block.first; i < block.last; ++i)
      if (program_.items[i].kind == ItemKind::data) {
        block.falls_off = true;
        return;
      }
    if (b + 1 < graph_.blocks.size())
      block.successors.push_back(b + 1);
    else
      block.falls_off = true;
  }

  void connect(uint32_t b) {
    Block& block = graph_.blocks[b];
    const Item& item = last_item(block);
    if (!is_instruction(item) || !ends_block(item)) return fall_through(b);
    const isa::Traits traits = item.instruction.traits;
    if (traits.branch && !traits.indirect) {
      const auto found = labels_.find(item.target);
      if (found != labels_.end())
        block.successors.push_back(found->second);
      else
        block.unknown = true;
      if (traits.conditional || !traits.terminator) fall_through(b);
    } else if (traits.indirect) {
      connect_indirect(b);
      if (!traits.terminator) fall_through(b);
    } else {
      block.exits = true;
    }
  }

  void connect_indirect(uint32_t b) {
    Block& block = graph_.blocks[b];
    if (const auto found = labels_.find(std::string(far_target(program_, block))); found != labels_.end()) {
      block.successors.push_back(found->second);
      return;
    }
    block.unknown = true;
    block.returns = function_.kernel < 0;
    if (block.returns) return;
    for (const auto& [name, target] : labels_) block.successors.push_back(target);
  }

  const Program& program_;
  const Function& function_;
  Graph graph_;
  std::unordered_map<std::string, uint32_t> labels_;
};

} // namespace

bool is_call(const isa::Instruction& instruction) {
  if (!instruction.traits.branch) return false;
  const std::string_view name = name_of(instruction);
  return name == "s_swappc_b64" || name == "s_call_b64";
}

Graph control_flow(const Program& program, const Function& function) { return Builder(program, function).build(); }

Graph reversed(const Graph& graph) {
  Graph turned;
  turned.block_of = graph.block_of;
  for (uint32_t b = 0; b < graph.blocks.size(); ++b) {
    const Block& block = graph.blocks[b];
    turned.blocks.push_back(
        {.first = block.first, .last = block.last, .successors = block.predecessors, .predecessors = block.successors});
    if (block.exits || block.returns || block.falls_off || block.successors.empty()) turned.entries.push_back(b);
  }
  return turned;
}

std::vector<uint32_t> reverse_postorder(const Graph& graph) {
  std::vector<uint32_t> order;
  std::vector<bool> seen(graph.blocks.size());
  std::vector<std::pair<uint32_t, size_t>> stack;
  const auto visit = [&](uint32_t root) {
    if (seen[root]) return;
    seen[root] = true;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const auto& successors = graph.blocks[block].successors;
      if (next == successors.size()) {
        order.push_back(block);
        stack.pop_back();
        continue;
      }
      const uint32_t target = successors[next++];
      if (seen[target]) continue;
      seen[target] = true;
      stack.emplace_back(target, 0);
    }
  };
  for (auto entry = graph.entries.rbegin(); entry != graph.entries.rend(); ++entry) visit(*entry);
  std::ranges::reverse(order);
  for (uint32_t b = 0; b < graph.blocks.size(); ++b)
    if (!seen[b]) order.push_back(b);
  return order;
}

std::vector<bool> reachable(const Graph& graph) {
  std::vector<bool> seen(graph.blocks.size());
  std::vector<uint32_t> work = graph.entries;
  for (uint32_t b : work) seen[b] = true;
  while (!work.empty()) {
    const uint32_t block = work.back();
    work.pop_back();
    for (uint32_t s : graph.blocks[block].successors)
      if (!seen[s]) {
        seen[s] = true;
        work.push_back(s);
      }
  }
  return seen;
}

} // namespace asmevo::analysis
