// Guarded regions one behind the other, as one piece of straight-line code.
//
// `if` behind `if` becomes, in a compiler, a chain of regions with a branch around each: where no lane takes part, the
// region is skipped. The branch is a wall. Loads of the second region do not start before the first is done with its
// own, conditions are computed anew in each, scalar loads are made one by one, and each branch costs its issue. Yet
// nearly always some lane takes part in each.
//
// So that case gets code of its own. The masks of all regions are computed first; where one is empty, the code runs as
// it was, of which nothing has changed. Otherwise no branch would have been taken, everything in the regions is
// certainly executed, each instruction under its mask, and the whole is a block that can be put in any order.
#include "recover/recover.h"
#include "search/drivers/rewrite/exec_skips.h"
#include "search/drivers/rewrite/masked_order.h"
#include "search/drivers/rewrite/rules.h"
#include "search/drivers/rewrite/straight_registers.h"
#include "search/drivers/rewrite/straight_simplify.h"

#include <algorithm>
#include <array>
#include <set>

namespace asmevo::search::rewrite {

namespace {

constexpr size_t longest_trace = 600; // items
constexpr size_t fewest_skips = 2;
constexpr int most_attempts = 16;

std::optional<size_t> place_of(const Facts& facts, std::string_view label) {
  for (size_t item = facts.function.first; item < facts.function.last; ++item)
    if (facts.program.items[item].kind == recover::ItemKind::label && facts.program.items[item].text == label)
      return item;
  return std::nullopt;
}

/// Instructions from `first` on as a wave executes them that skips nothing.
std::vector<size_t> trace_from(const Facts& facts, size_t first) {
  std::vector<size_t> trace;
  std::vector<bool> seen(facts.function.last - facts.function.first, false);
  for (size_t item = first; item < facts.function.last && trace.size() < longest_trace;) {
    if (seen[item - facts.function.first]) break;
    seen[item - facts.function.first] = true;
    const recover::Item& at = facts.program.items[item];
    if (at.kind == recover::ItemKind::label) {
      ++item;
      continue;
    }
    if (at.kind != recover::ItemKind::instruction) break;
    trace.push_back(item);
    const std::string_view name = isa::name_of(at.instruction);
    if (name == "s_branch" || name == "s_cbranch_execnz") {
      const auto target = place_of(facts, at.target);
      if (!target) break;
      item = *target;
    } else {
      ++item;
    }
  }
  return trace;
}

/// Masks that nothing is asked about which lies within them: where those have lanes, all have.
std::vector<int> innermost(const StraightCode& code) {
  std::vector<int> found;
  std::set<ValueId> known;
  for (const int mask : code.skips) {
    const bool outer =
        std::ranges::any_of(code.skips, [&](int other) { return other != mask && code.within(other, mask); });
    if (!outer && known.insert(code.resolved({code.masks[size_t(mask)].value, 0}).value).second) found.push_back(mask);
  }
  return found;
}

/// The nodes that masks are computed by, in order. Nothing where a memory access is among them, or something that has
/// to stay where it is.
class Slice {
public:
  explicit Slice(StraightCode& code) : code_(code), in_(code.nodes.size(), false) {}

  bool add(ValueId value) {
    value = code_.resolved({value, 0}).value;
    const size_t maker = code_.values[value].maker;
    if (maker >= code_.nodes.size()) return true; // it is there when the code begins
    if (in_[maker]) return true;
    in_[maker] = true;
    const Node& node = code_.nodes[maker];
    if (!node.only_computes || node.reads_scc || node.scc_is_read || crosses_lanes(*node.instruction)) return false;
    for (const Operand& write : node.writes)
      if (code_.is_fixed(write.parts[0].value)) return false;
    for (const Operand& read : node.reads)
      for (const Part& part : read.parts)
        if (!add(part.value)) return false;
    if (node.mask != no_mask && !add(code_.masks[size_t(node.mask)].value)) return false;
    return beside(maker);
  }

  bool has(size_t node) const { return in_[node]; }

private:
  /// What lies in the same registers under other masks was there before.
  bool beside(size_t maker) {
    for (const Operand& write : code_.nodes[maker].writes) {
      const ValueId value = write.parts[0].value;
      if (code_.is_alone(value)) continue;
      for (ValueId other = 0; other < code_.values.size(); ++other)
        if (code_.root(other) == code_.root(value) && code_.values[other].maker < maker && !add(other)) return false;
    }
    return true;
  }

  StraightCode& code_;
  std::vector<bool> in_;
};

struct Flat {
  StraightCode code;
  std::vector<size_t> order; // of nodes, those of the masks first
  size_t first_nodes = 0;    // how many those are
  std::vector<int> asked;    // masks
  std::vector<size_t> items; // that it stands for
};

/// `wanted`: liveness by the readers that count. A register that is overwritten in the lanes that there are is live by
/// the others, and what is computed for a mask may be left in it.
std::optional<Flat> flat_code(const Facts& facts, const analysis::Liveness& wanted, std::vector<size_t> items) {
  auto code = StraightCode::of(facts, items, wanted.before[items.back() + 1 - facts.function.first]);
  if (!code) return std::nullopt;
  simplify(*code);
  std::vector<int> asked = innermost(*code);
  Slice slice(*code);
  for (const int mask : asked) {
    const ValueId value = code->resolved({code->masks[size_t(mask)].value, 0}).value;
    if (mask == StraightCode::entry_mask || !slice.add(value)) return std::nullopt;
  }
  std::vector<size_t> order;
  for (const bool first : {true, false})
    for (size_t n = 0; n < code->nodes.size(); ++n)
      if (!code->nodes[n].is_gone && slice.has(n) == first) order.push_back(n);
  const auto count = size_t(std::ranges::count_if(order, [&](size_t n) { return slice.has(n); }));
  return Flat{*std::move(code), std::move(order), count, std::move(asked), std::move(items)};
}

std::optional<Flat> longest_flat_code(const Facts& facts, const analysis::Liveness& wanted, size_t first) {
  std::vector<size_t> items = trace_from(facts, first);
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    items.resize(StraightCode::longest(facts, items, fewest_skips));
    if (items.empty()) return std::nullopt;
    if (auto code = flat_code(facts, wanted, items)) return code;
    items.pop_back();
  }
  return std::nullopt;
}

/// The flat code in an order, in front of the code that it stands for. Nothing where there are no registers for it.
std::optional<Idea> written(const Facts& facts, Flat flat, Order order, std::string_view what) {
  const size_t start = flat.items.front(), end = flat.items.back() + 1;
  const auto registers = placed(flat.code, facts, start, flat.order);
  if (!registers) return std::nullopt;
  std::string lines;
  std::vector<size_t> nodes; // by line
  size_t first_nodes = 0;
  for (size_t k = 0; k < flat.order.size(); ++k) {
    if (flat.code.nodes[flat.order[k]].is_gone) continue;
    lines += registers->lines[flat.order[k]];
    nodes.push_back(flat.order[k]);
    if (k < flat.first_nodes) ++first_nodes;
  }
  const auto program = recover::apply(facts.program, std::array{recover::Edit{start, start, lines}}, facts.codec);
  if (!program) return std::nullopt;
  MaskedItems items{.program = *program, .masks = registers->masks, .mask_of = {}};
  for (size_t k = 0; k < nodes.size(); ++k)
    if (const int mask = flat.code.nodes[nodes[k]].mask; mask != no_mask) items.mask_of[start + k] = size_t(mask);
  std::erase_if(items.mask_of, [&](const auto& entry) { return items.masks[entry.second].count == 0; });

  const std::string slow = fmt::format(".Lsome_idle_{}", start), join = fmt::format(".Lguards_done_{}", start);
  std::set<size_t> makers;
  for (const int mask : flat.asked)
    makers.insert(flat.code.values[flat.code.resolved({flat.code.masks[size_t(mask)].value, 0}).value].maker);
  const auto asks = [&](size_t item) {
    return makers.contains(nodes[item - start]) ? fmt::format("s_cbranch_scc0 {}\n", slow) : std::string();
  };
  std::string text = fmt::format("s_mov_b64 {}, exec\n", register_text(registers->masks[0]));
  for (const auto& [first, last] :
       {std::pair{start, start + first_nodes}, {start + first_nodes, start + nodes.size()}}) {
    analysis::DependenceGraph graph =
        analysis::dependences(*program, program->functions[function_index(facts)], first, last);
    add_masks(graph, items);
    const std::vector<uint32_t> best = masked_schedule(items, graph, order);
    if (!graph.allows(best)) return std::nullopt;
    text += masked_text(items, graph, best, asks);
  }
  text += fmt::format("s_branch {}\n{}:\n", join, slow);
  double heat = 0;
  for (const size_t item : flat.items) heat += facts.heat_of(item, item + 1);
  return Idea{.edits = {{start, start, std::move(text)}, {end, end, join + ":\n"}},
              .blocks = {},
              .rationale = fmt::format("{} guarded regions as one block, {}", flat.asked.size(), what),
              .promise = heat,
              .variant = unsigned(order == Order::critical_path)};
}

} // namespace

std::vector<Idea> flatten_guards(const Facts& facts) {
  const analysis::Liveness wanted =
      analysis::liveness(facts.program, facts.function, facts.graph, analysis::Readers::wanted);
  std::vector<Idea> ideas;
  size_t done = facts.function.first; // behind what the last idea stands for
  for (const analysis::Block& block : facts.graph.blocks) {
    for (size_t item = block.first; item < block.last; ++item) {
      if (item < done || !facts.is_instruction(item)) continue;
      if (isa::name_of(facts.instruction(item)) != "s_and_saveexec_b64") continue;
      const auto flat = longest_flat_code(facts, wanted, item);
      if (!flat) continue;
      for (const auto& [order, what] : {std::pair{Order::loads_first, "loads first"},
                                        std::pair{Order::critical_path, "scheduled by critical path"}})
        if (auto idea = written(facts, *flat, order, what)) ideas.push_back(*std::move(idea));
      done = std::max(done, flat->items.back() + 1);
    }
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
