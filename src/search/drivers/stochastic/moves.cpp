#include "search/drivers/stochastic/moves.h"

#include "analysis/dependence.h"
#include "analysis/repair.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/operand.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace asmevo::search::stochastic {

namespace {

using rewrite::Facts;
using Random = std::mt19937_64;

/// Below `count`. The same on every machine, which a standard distribution does not promise.
size_t below(size_t count, Random& random) { return size_t(random() % count); }

size_t weighted(std::span<const double> weights, Random& random) {
  double left = double(random() >> 11) * 0x1p-53 * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (size_t k = 0; k < weights.size(); ++k)
    if ((left -= weights[k]) < 0) return k;
  return weights.size() - 1;
}

/// Instructions of a block that may change: not what only waits, and not what leads out of it.
std::vector<size_t> movable(const Facts& facts, const analysis::Block& block) {
  std::vector<size_t> items;
  for (size_t item = block.first; item < block.last; ++item) {
    if (!facts.is_instruction(item)) continue;
    const isa::Instruction& i = facts.instruction(item);
    if (!analysis::only_waits(i) && !i.traits.branch && !i.traits.terminator) items.push_back(item);
  }
  return items;
}

using Edits = std::vector<recover::Edit>;

recover::Edit put(const Facts& facts, size_t item, size_t at) {
  return {at, at, analysis::item_text(facts.program.items[item])};
}

Edits swap(const Facts& facts, const std::vector<size_t>& items, Random& random) {
  size_t a = items[below(items.size(), random)], b = items[below(items.size(), random)];
  if (a > b) std::swap(a, b);
  if (a == b) return {};
  return {{a, a + 1, analysis::item_text(facts.program.items[b])},
          {b, b + 1, analysis::item_text(facts.program.items[a])}};
}

Edits shift(const Facts& facts, const std::vector<size_t>& items, Random& random) {
  const size_t from = items[below(items.size(), random)], to = items[below(items.size(), random)];
  if (from == to || from + 1 == to) return {};
  Edits edits{{from, from + 1, ""}, put(facts, from, to)};
  std::ranges::sort(edits, {}, &recover::Edit::first);
  return edits;
}

Edits remove(const Facts&, const std::vector<size_t>& items, Random& random) {
  const size_t item = items[below(items.size(), random)];
  return {{item, item + 1, ""}};
}

/// An operand becomes one that another instruction of the block has.
Edits exchange_operand(const Facts& facts, const std::vector<size_t>& items, Random& random) {
  const size_t item = items[below(items.size(), random)], other = items[below(items.size(), random)];
  rewrite::InstructionText text = rewrite::parse_instruction(facts.program.items[item].text);
  const rewrite::InstructionText from = rewrite::parse_instruction(facts.program.items[other].text);
  if (text.operands.empty() || from.operands.empty()) return {};
  std::string& operand = text.operands[below(text.operands.size(), random)];
  const std::string& source = from.operands[below(from.operands.size(), random)];
  if (operand == source) return {};
  operand = source;
  return {{item, item + 1, rewrite::write_instruction(text) + "\n"}};
}

struct Kind {
  std::string_view name;
  Edits (*make)(const Facts&, const std::vector<size_t>&, Random&);
};
constexpr std::array kinds = {Kind{"swap", swap}, Kind{"shift", shift}, Kind{"delete", remove},
                              Kind{"operand", exchange_operand}};

} // namespace

std::vector<double> block_heat(const Facts& facts) {
  std::vector<double> heat;
  double total = 0;
  for (const analysis::Block& block : facts.graph.blocks) {
    heat.push_back(movable(facts, block).size() < 2 ? 0 : facts.heat_of(block.first, block.last));
    total += heat.back();
  }
  for (size_t k = 0; k < heat.size(); ++k)
    if (movable(facts, facts.graph.blocks[k]).size() >= 2) heat[k] += 0.01 * total + 1e-9;
  return heat;
}

std::optional<Move> random_move(const Facts& facts, std::span<const double> heat, Random& random) {
  const Kind& kind = kinds[below(kinds.size(), random)];
  const analysis::Block& block = facts.graph.blocks[weighted(heat, random)];
  const std::vector<size_t> items = movable(facts, block);
  if (items.size() < 2) return std::nullopt;
  const Edits edits = kind.make(facts, items, random);
  if (edits.empty()) return std::nullopt;
  auto changed = recover::apply(facts.program, edits, facts.codec);
  if (!changed) return std::nullopt;
  return Move{kind.name, *std::move(changed)};
}

} // namespace asmevo::search::stochastic
