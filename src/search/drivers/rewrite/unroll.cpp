// Unrolling of loops that a register counts.
//
// A loop that loads, waits and computes keeps one iteration's loads in flight, and however many waves there are, each
// stands still once an iteration. With several iterations side by side, each with registers of its own, all their loads
// are issued before the first wait, at offsets from one address. Results stay what they were, bit by bit: sums keep
// their order, only loads move.
//
// Whether so many iterations are still to come is asked before each round; what is left runs in the loop as it was. So
// no load happens that would not have happened. Loads of guarded regions are issued under the masks of their copies,
// and loads pass stores of other iterations where the distance between their addresses says so (apart.h).
#include "recover/recover.h"
#include "search/drivers/rewrite/apart.h"
#include "search/drivers/rewrite/copies.h"
#include "search/drivers/rewrite/counted_loop.h"
#include "search/drivers/rewrite/guarded_schedule.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"
#include "search/drivers/rewrite/schedule.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

constexpr size_t longest_round = 400; // instructions

bool can_be_copied(const Facts& facts, const Rounds& loop, const ExecRegions& regions) {
  for (size_t item = loop.block->first; item < loop.block->last; ++item) {
    if (!facts.is_instruction(item) || std::ranges::find(loop.left_out, item) != loop.left_out.end()) continue;
    const isa::Instruction& i = facts.instruction(item);
    const bool guards = std::ranges::any_of(
        regions.all(), [&](const ExecRegion& region) { return item == region.enter || item == region.leave; });
    if ((writes(i, exec) && !guards) || i.traits.branch || i.traits.side_effects || i.traits.relative) return false;
  }
  return true;
}

size_t instructions_of(const Facts& facts, const analysis::Block& block) {
  size_t count = 0;
  for (size_t item = block.first; item < block.last; ++item) count += facts.is_instruction(item);
  return count;
}

struct Unrolled {
  recover::Edit edit;
  std::string label; // of the round
  std::vector<Apart> apart;
};

Unrolled unrolled(const Facts& facts, const Rounds& loop, const ExecRegions& regions, uint64_t times, Order order) {
  size_t first = loop.block->first;
  const size_t last = loop.block->last;
  while (!facts.is_instruction(first)) ++first;
  const std::vector<Stepper> addresses = steppers(facts, *loop.block, times);
  Copies copies(facts, *loop.block, loop.left_out, regions, addresses);
  std::string round;
  for (const Stepper& stepper : addresses) round += stepper.start();
  for (uint64_t k = 0; k < times; ++k) round += copies.next(k + 1 == times);
  for (const Stepper& stepper : addresses) round += stepper.step(times);
  round += loop.step;
  const RoundLabels labels(loop.label, times);
  const ApartTest apart =
      order == Order::loads_first ? apart_test(facts, *loop.block, addresses, times, labels.rest) : ApartTest{};
  if (loop.iterations && *loop.iterations % times == 0 && apart.pairs.empty()) { // the loop's own test is enough
    std::string test = loop.last_test.substr(0, loop.last_test.rfind('\n', loop.last_test.size() - 2) + 1);
    return {{first, last, fmt::format("{}{}{} {}\n", round, test, loop.back, loop.label)}, loop.label, {}};
  }
  std::string text = fmt::format("{}{}{}:\n{}{}{}{}:\n", apart.lines, loop.first_test, labels.many, round, loop.test,
                                 loop.last_test, labels.rest);
  text += recover::print_items(facts.program, first, last - 1);
  text += fmt::format("{} {}\n{}:\n", loop.back, labels.rest, labels.end);
  return {{first, last, std::move(text)}, labels.many, apart.pairs};
}

/// The program with the round put in order.
std::optional<recover::Program> in_order(const Facts& facts, const recover::Program& program, size_t function,
                                         const std::string& label, Order order, const std::vector<Apart>& pairs) {
  const Facts after = gather({.program = &program, .function = &program.functions[function], .codec = &facts.codec});
  for (const analysis::Block& block : after.graph.blocks) {
    const auto is_label = [&](size_t item) {
      return program.items[item].kind == recover::ItemKind::label && program.items[item].text == label;
    };
    size_t top = block.first;
    while (top + 1 < block.last && !is_label(top) && !after.is_instruction(top)) ++top;
    if (!is_label(top)) continue;
    auto edits = scheduled_with_guards(after, block, order, pairs);
    if (edits.empty()) edits = scheduled(after, block, order, nullptr, pairs);
    auto changed = recover::apply(program, edits, facts.codec);
    return changed ? std::optional(*std::move(changed)) : std::nullopt;
  }
  return std::nullopt;
}

} // namespace

std::vector<Idea> unroll_loops(const Facts& facts) {
  std::vector<Idea> ideas;
  unsigned variant = 0;
  for (const auto& [times, weight] : {std::pair{4u, 1.3}, std::pair{8u, 1.2}, std::pair{2u, 1.1}}) {
    std::vector<Rounds> loops = scalar_rounds(facts, times);
    std::ranges::move(lane_rounds(facts, times), std::back_inserter(loops));
    for (const Rounds& loop : loops) {
      const auto regions = ExecRegions::find(facts, *loop.block, loop.left_out);
      if (!regions || !can_be_copied(facts, loop, *regions) ||
          instructions_of(facts, *loop.block) * times > longest_round)
        continue;
      for (const auto& [order, what] : {std::pair{Order::loads_first, "loads first"},
                                        std::pair{Order::critical_path, "scheduled by critical path"}}) {
        const Unrolled text = unrolled(facts, loop, *regions, times, order);
        const auto longer = recover::apply(facts.program, std::array{text.edit}, facts.codec);
        if (!longer) continue;
        if (const auto program = in_order(facts, *longer, function_index(facts), text.label, order, text.apart))
          ideas.push_back({difference(facts.program, *program),
                           {},
                           fmt::format("{} iterations of {} at once, {}", times, loop.label, what),
                           facts.heat_of(loop.block->first, loop.block->last) * weight,
                           variant + unsigned(order == Order::critical_path)});
      }
    }
    variant += 2;
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
