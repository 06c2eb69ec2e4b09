#include "analysis/loops.h"

#include "analysis/reaching.h"

#include <algorithm>
#include <functional>

namespace asmevo::analysis {

// ---- dominators: K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm" ----

Dominators::Dominators(const Graph& graph) {
  const auto root = static_cast<uint32_t>(graph.blocks.size()); // before all entries
  std::vector<uint32_t> parent(graph.blocks.size() + 1, none), number(graph.blocks.size() + 1, 0);
  const std::vector<bool> reached = reachable(graph);
  std::vector<uint32_t> order = reverse_postorder(graph);
  std::erase_if(order, [&](uint32_t b) { return !reached[b]; });
  for (uint32_t n = 0; n < order.size(); ++n) number[order[n]] = n + 1;
  parent[root] = root;
  const auto meet = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] > number[b]) a = parent[a];
      while (number[b] > number[a]) b = parent[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b : order) {
      uint32_t next = std::ranges::find(graph.entries, b) != graph.entries.end() ? root : none;
      for (uint32_t p : graph.blocks[b].predecessors)
        if (parent[p] != none) next = next == none ? p : meet(next, p);
      changed |= parent[b] != next;
      parent[b] = next;
    }
  }
  immediate_.assign(graph.blocks.size(), none);
  depth_.assign(graph.blocks.size(), 0);
  for (uint32_t b : order) {
    if (parent[b] == root) continue;
    immediate_[b] = parent[b];
    depth_[b] = depth_[parent[b]] + 1;
  }
}

bool Dominators::dominates(uint32_t block, uint32_t other) const {
  while (depth_[other] > depth_[block]) other = immediate_[other];
  return block == other;
}

std::optional<uint32_t> Dominators::immediate(uint32_t block) const {
  return immediate_[block] == none ? std::nullopt : std::optional(immediate_[block]);
}

bool Loop::contains(uint32_t block) const { return std::ranges::binary_search(blocks, block); }

namespace {

using isa::Encoding;
using isa::Instruction;

// ---- how often ----

using Compare = bool (*)(uint32_t, uint32_t);

struct CompareRow {
  std::string_view suffix; // behind s_cmp_ and s_cmpk_
  Compare holds;
};

constexpr CompareRow compares[] = {
    {"eq_i32", [](uint32_t a, uint32_t b) { return a == b; }},
    {"eq_u32", [](uint32_t a, uint32_t b) { return a == b; }},
    {"lg_i32", [](uint32_t a, uint32_t b) { return a != b; }},
    {"lg_u32", [](uint32_t a, uint32_t b) { return a != b; }},
    {"gt_i32", [](uint32_t a, uint32_t b) { return int32_t(a) > int32_t(b); }},
    {"ge_i32", [](uint32_t a, uint32_t b) { return int32_t(a) >= int32_t(b); }},
    {"lt_i32", [](uint32_t a, uint32_t b) { return int32_t(a) < int32_t(b); }},
    {"le_i32", [](uint32_t a, uint32_t b) { return int32_t(a) <= int32_t(b); }},
    {"gt_u32", [](uint32_t a, uint32_t b) { return a > b; }},
    {"ge_u32", [](uint32_t a, uint32_t b) { return a >= b; }},
    {"lt_u32", [](uint32_t a, uint32_t b) { return a < b; }},
    {"le_u32", [](uint32_t a, uint32_t b) { return a <= b; }},
};

uint8_t first_source(const Instruction& i) { return static_cast<uint8_t>(i.words[0]); }
uint8_t second_source(const Instruction& i) { return static_cast<uint8_t>(i.words[0] >> 8); }
uint8_t destination(const Instruction& i) { return static_cast<uint8_t>(i.words[0] >> 16 & 0x7f); }
constexpr uint8_t sgprs = 102;

/// A register held against a constant.
struct Test {
  uint16_t counter = 0;
  uint32_t bound = 0;
  bool counter_first = true;
  Compare holds = nullptr;
};

class Counting {
public:
  Counting(const recover::Program& program, const recover::Function& function, const Graph& graph,
           const Dominators& dominators, const std::vector<Loop>& all)
      : program_(program), function_(function), graph_(graph), dominators_(dominators), all_(all),
        reaching_(program, function, graph) {}

  std::optional<uint64_t> iterations(const Loop& loop) const {
    if (loop.latches.size() != 1 || !leaves_only_at(loop, loop.latches[0])) return std::nullopt;
    const Block& latch = graph_.blocks[loop.latches[0]];
    const recover::Item& branch = program_.items[latch.last - 1];
    if (!is_instruction(branch)) return std::nullopt;
    const std::string_view name = name_of(branch.instruction);
    if (name != "s_cbranch_scc0" && name != "s_cbranch_scc1") return std::nullopt;
    const bool back_where_taken = block_of_label(branch.target) == loop.header;
    const bool repeats_where_set = (name == "s_cbranch_scc1") == back_where_taken;
    const auto compare = scc_writer(latch);
    if (!compare) return std::nullopt;
    const auto test = test_of(*compare);
    if (!test) return std::nullopt;
    const auto step = step_of(loop, test->counter);
    const auto start = start_of(loop, test->counter);
    if (!step || !start) return std::nullopt;
    return count(*test, *start, step->second, step->first < *compare || !in(latch, step->first), repeats_where_set);
  }

private:
  static bool in(const Block& block, size_t item) { return item >= block.first && item < block.last; }

  bool leaves_only_at(const Loop& loop, uint32_t block) const {
    return std::ranges::all_of(loop.blocks, [&](uint32_t b) {
      const Block& at = graph_.blocks[b];
      const bool leaves = at.exits || at.unknown || at.returns || at.falls_off ||
                          std::ranges::any_of(at.successors, [&](uint32_t s) { return !loop.contains(s); });
      return b == block || !leaves;
    });
  }

  std::optional<uint32_t> block_of_label(const std::string& label) const {
    for (size_t i = function_.first; i < function_.last; ++i)
      if (program_.items[i].kind == recover::ItemKind::label && program_.items[i].text == label)
        return graph_.block_of[i - function_.first];
    return std::nullopt;
  }

  std::optional<size_t> scc_writer(const Block& block) const {
    for (size_t i = block.last; i-- > block.first;) {
      if (!is_instruction(program_.items[i])) continue;
      const Instruction& instruction = program_.items[i].instruction;
      if (is_call(instruction)) return std::nullopt;
      if (std::ranges::any_of(instruction.defs, [](const auto& def) { return def.file == isa::File::scc; })) return i;
    }
    return std::nullopt;
  }

  std::optional<uint32_t> constant(size_t item, uint8_t source) const {
    if (const auto value = constant_operand(program_.items[item].instruction, source)) return value;
    return source < sgprs ? reaching_.scalar_constant(item, source) : std::nullopt;
  }

  std::optional<Test> test_of(size_t item) const {
    const Instruction& i = program_.items[item].instruction;
    const std::string_view name = name_of(i);
    const bool immediate = name.starts_with("s_cmpk_");
    if (!immediate && !name.starts_with("s_cmp_")) return std::nullopt;
    const auto row = std::ranges::find(compares, name.substr(immediate ? 7 : 6), &CompareRow::suffix);
    if (row == std::end(compares)) return std::nullopt;
    if (immediate) {
      const auto bits = static_cast<uint16_t>(i.words[0]);
      const uint32_t bound = name.ends_with("_u32") ? bits : uint32_t(int32_t(int16_t(bits)));
      return Test{destination(i), bound, true, row->holds};
    }
    const uint8_t first = first_source(i), second = second_source(i);
    if (const auto bound = constant(item, second); bound && first < sgprs) return Test{first, *bound, true, row->holds};
    if (const auto bound = constant(item, first); bound && second < sgprs)
      return Test{second, *bound, false, row->holds};
    return std::nullopt;
  }

  /// The one item in the loop that writes the counter, and what it adds.
  std::optional<std::pair<size_t, uint32_t>> step_of(const Loop& loop, uint16_t counter) const {
    std::optional<size_t> writer;
    for (uint32_t b : loop.blocks)
      for (size_t i = graph_.blocks[b].first; i < graph_.blocks[b].last; ++i) {
        if (!is_instruction(program_.items[i])) continue;
        const Instruction& instruction = program_.items[i].instruction;
        const bool writes = is_call(instruction) || std::ranges::any_of(instruction.defs, [&](const auto& def) {
                              return def.overlaps({isa::File::sgpr, counter, 1});
                            });
        if (writes && writer) return std::nullopt;
        if (writes) writer = i;
      }
    if (!writer || !once_an_iteration(loop, graph_.block_of[*writer - function_.first])) return std::nullopt;
    const Instruction& i = program_.items[*writer].instruction;
    const std::string_view name = name_of(i);
    if (destination(i) != counter) return std::nullopt;
    if (name == "s_addk_i32") return std::pair(*writer, uint32_t(int32_t(int16_t(i.words[0]))));
    const bool adds = name == "s_add_u32" || name == "s_add_i32",
               subtracts = name == "s_sub_u32" || name == "s_sub_i32";
    if (!adds && !subtracts) return std::nullopt;
    const bool first = first_source(i) == counter;
    if (!first && (subtracts || second_source(i) != counter)) return std::nullopt;
    const auto by = constant(*writer, first ? second_source(i) : first_source(i));
    return by ? std::optional(std::pair(*writer, adds ? *by : 0 - *by)) : std::nullopt;
  }

  bool once_an_iteration(const Loop& loop, uint32_t block) const {
    const bool inner = std::ranges::any_of(all_, [&](const Loop& other) {
      return other.header != loop.header && loop.contains(other.header) && other.contains(block);
    });
    return !inner && dominators_.dominates(block, loop.latches[0]);
  }

  /// What the counter holds when the loop is entered.
  std::optional<uint32_t> start_of(const Loop& loop, uint16_t counter) const {
    std::optional<uint32_t> value;
    for (uint32_t p : graph_.blocks[loop.header].predecessors) {
      if (loop.contains(p)) continue;
      // Behind the last item of the block, which is no write of the counter where it is a branch.
      const size_t last = graph_.blocks[p].last - 1;
      const recover::Item& item = program_.items[last];
      std::optional<uint32_t> here;
      if (is_instruction(item) && !item.instruction.traits.branch) {
        const bool moves = name_of(item.instruction) == "s_mov_b32" && destination(item.instruction) == counter;
        const bool movesk = name_of(item.instruction) == "s_movk_i32" && destination(item.instruction) == counter;
        if (moves) here = constant_operand(item.instruction, first_source(item.instruction));
        if (movesk) here = uint32_t(int32_t(int16_t(item.instruction.words[0])));
        if (!moves && !movesk) {
          const bool writes = std::ranges::any_of(
              item.instruction.defs, [&](const auto& def) { return def.overlaps({isa::File::sgpr, counter, 1}); });
          if (!writes) here = reaching_.scalar_constant(last, counter);
        }
      } else {
        here = reaching_.scalar_constant(last, counter);
      }
      if (!here || (value && *value != *here)) return std::nullopt;
      value = here;
    }
    const bool entry = std::ranges::find(graph_.entries, loop.header) != graph_.entries.end();
    return entry ? std::nullopt : value;
  }

  static std::optional<uint64_t> count(const Test& test, uint32_t value, uint32_t step, bool steps_first,
                                       bool repeats) {
    constexpr uint64_t most = uint64_t{1} << 22; // longer ones are not followed
    for (uint64_t n = 1; n <= most; ++n) {
      if (steps_first) value += step;
      const bool set = test.counter_first ? test.holds(value, test.bound) : test.holds(test.bound, value);
      if (set != repeats) return n;
      if (!steps_first) value += step;
    }
    return std::nullopt;
  }

  const recover::Program& program_;
  const recover::Function& function_;
  const Graph& graph_;
  const Dominators& dominators_;
  const std::vector<Loop>& all_;
  Reaching reaching_;
};

} // namespace

std::vector<Loop> loops(const recover::Program& program, const recover::Function& function, const Graph& graph) {
  const Dominators dominators(graph);
  const std::vector<bool> reached = reachable(graph);
  std::vector<Loop> all;
  for (uint32_t header = 0; header < graph.blocks.size(); ++header) {
    Loop loop{.header = header};
    for (uint32_t p : graph.blocks[header].predecessors)
      if (reached[p] && dominators.dominates(header, p)) loop.latches.push_back(p);
    if (loop.latches.empty()) continue;
    std::vector<bool> inside(graph.blocks.size());
    inside[header] = true;
    std::vector<uint32_t> waiting = loop.latches;
    while (!waiting.empty()) {
      const uint32_t b = waiting.back();
      waiting.pop_back();
      if (inside[b] || !reached[b]) continue;
      inside[b] = true;
      waiting.insert(waiting.end(), graph.blocks[b].predecessors.begin(), graph.blocks[b].predecessors.end());
    }
    for (uint32_t b = 0; b < graph.blocks.size(); ++b)
      if (inside[b]) loop.blocks.push_back(b);
    all.push_back(std::move(loop));
  }
  for (Loop& loop : all)
    for (const Loop& other : all) loop.depth += other.header != loop.header && other.contains(loop.header);
  if (all.empty()) return all;
  const Counting counting(program, function, graph, dominators, all);
  std::vector<std::optional<uint64_t>> counts;
  for (const Loop& loop : all) counts.push_back(counting.iterations(loop));
  for (size_t k = 0; k < all.size(); ++k) all[k].iterations = counts[k];
  return all;
}

} // namespace asmevo::analysis
