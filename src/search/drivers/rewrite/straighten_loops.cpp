// Loops without detours.
//
// Compilers lay a loop out as it comes: `latch; header; guarded body; branch to the latch`, entered by a branch to the
// header. Each iteration then takes a branch that goes nowhere a fall-through would not, and fetches anew behind it.
// Turned round, so that what the last block branches to stands behind it, the loop keeps one branch an iteration: the
// one that asked whether it is over now asks whether it goes on.
//
// Where the body is guarded by a skip that is only there to save time (see exec_skips.h), that goes too, and what is
// left is one block, which other rules can schedule and unroll.
#include "analysis/loops.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/exec_skips.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

std::string_view inverse_of(std::string_view branch) {
  constexpr std::array pairs = {std::pair{"s_cbranch_scc0", "s_cbranch_scc1"},
                                std::pair{"s_cbranch_vccz", "s_cbranch_vccnz"},
                                std::pair{"s_cbranch_execz", "s_cbranch_execnz"}};
  for (const auto& [one, other] : pairs) {
    if (branch == one) return other;
    if (branch == other) return one;
  }
  return {};
}

/// A loop that lies in one piece, whose last block branches to its first, and a place within it where it is left.
struct Turn {
  size_t first = 0, last = 0;      // items of the loop
  size_t middle = 0;               // the first item behind the branch that leaves
  std::optional<size_t> entry;     // the branch right before the loop that only jumps into its middle
  std::optional<std::string> jump; // to the header, where the loop is entered by falling into it
  std::string exit;                // label
};

std::string first_label(const Facts& facts, size_t item) {
  return facts.program.items[item].kind == recover::ItemKind::label ? facts.program.items[item].text : std::string();
}

bool has_label(const Facts& facts, const analysis::Block& block, const std::string& name) {
  for (size_t item = block.first; item < block.last && !facts.is_instruction(item); ++item)
    if (facts.program.items[item].text == name) return true;
  return false;
}

bool branches_to(const Facts& facts, const analysis::Block& from, const analysis::Block& to) {
  const size_t item = from.last - 1;
  return facts.is_instruction(item) && isa::name_of(facts.instruction(item)) == "s_branch" &&
         has_label(facts, to, facts.program.items[item].target);
}

/// Only labels and instructions: data and padding stay where they are.
bool is_code(const Facts& facts, size_t first, size_t last) {
  for (size_t item = first; item < last; ++item)
    if (const auto kind = facts.program.items[item].kind;
        kind != recover::ItemKind::label && kind != recover::ItemKind::instruction)
      return false;
  return true;
}

/// What precedes the loop: nothing where that is not understood.
bool read_entry(const Facts& facts, const analysis::Loop& loop, uint32_t middle, Turn& turn) {
  const auto& blocks = facts.graph.blocks;
  const uint32_t front = loop.blocks.front();
  if (front == 0) return false;
  const analysis::Block& before = blocks[front - 1];
  const bool falls_in = std::ranges::find(before.successors, front) != before.successors.end() &&
                        !branches_to(facts, before, blocks[front]);
  if (falls_in) {
    if (loop.header != front) return false;
    const std::string label = first_label(facts, blocks[front].first);
    if (label.empty()) return false;
    turn.jump = label;
  } else if (branches_to(facts, before, blocks[middle])) {
    turn.entry = before.last - 1;
  }
  return true;
}

std::vector<Turn> turns_of(const Facts& facts, const analysis::Loop& loop) {
  const auto& blocks = facts.graph.blocks;
  const uint32_t front = loop.blocks.front(), back = loop.blocks.back();
  std::vector<Turn> turns;
  if (back - front + 1 != loop.blocks.size() || front == back || !branches_to(facts, blocks[back], blocks[front]))
    return turns;
  for (uint32_t b = front; b < back; ++b) {
    const size_t branch = blocks[b].last - 1;
    if (!facts.is_instruction(branch) || inverse_of(isa::name_of(facts.instruction(branch))).empty()) continue;
    const std::string& exit = facts.program.items[branch].target;
    const bool leaves = std::ranges::any_of(
        blocks[b].successors, [&](uint32_t s) { return !loop.contains(s) && has_label(facts, blocks[s], exit); });
    Turn turn{.first = blocks[front].first, .last = blocks[back].last, .middle = blocks[b].last, .exit = exit};
    if (leaves && read_entry(facts, loop, b + 1, turn) && is_code(facts, turn.first, turn.last))
      turns.push_back(std::move(turn));
  }
  return turns;
}

/// How often instructions outside of [first, last) name a label, other sections included.
bool named_elsewhere(const Facts& facts, const std::string& label, size_t first, size_t last) {
  for (size_t item = 0; item < facts.program.items.size(); ++item)
    if ((item < first || item >= last) && facts.program.items[item].target == label) return true;
  return is_anchored(facts.program, label);
}

recover::Edit turned(const Facts& facts, const Turn& turn, bool straight) {
  std::vector<size_t> order;
  for (size_t item = turn.middle; item + 1 < turn.last; ++item) order.push_back(item);
  for (size_t item = turn.first; item < turn.middle; ++item) order.push_back(item);
  const size_t first = turn.entry.value_or(turn.first), leaving = turn.middle - 1;
  std::string top = first_label(facts, turn.middle);
  std::string text = turn.jump ? fmt::format("s_branch {}\n", *turn.jump) : "";
  if (top.empty()) text += (top = first_label(facts, turn.first) + "_again") + ":\n";

  std::vector<std::string> needed = {top};
  if (turn.jump) needed.push_back(*turn.jump);
  std::vector<bool> gone(order.size(), false);
  for (size_t k = 0; k < order.size(); ++k) {
    const recover::Item& item = facts.program.items[order[k]];
    if (item.target.empty() || order[k] == leaving) continue;
    gone[k] = straight && skips_idle_code(facts, std::span(order).subspan(k));
    if (!gone[k]) needed.push_back(item.target);
  }
  for (size_t k = 0; k < order.size(); ++k) {
    const recover::Item& item = facts.program.items[order[k]];
    if (gone[k]) continue;
    if (order[k] == leaving)
      text += fmt::format("{} {}\n", inverse_of(isa::name_of(item.instruction)), top);
    else if (item.kind == recover::ItemKind::instruction)
      text += recover::print_items(facts.program, order[k], order[k] + 1);
    else if (!straight || std::ranges::find(needed, item.text) != needed.end() ||
             named_elsewhere(facts, item.text, first, turn.last))
      text += item.text + ":\n";
  }
  bool falls_out = false;
  for (size_t item = turn.last; item < facts.function.last && !first_label(facts, item).empty(); ++item)
    falls_out |= first_label(facts, item) == turn.exit;
  if (!falls_out) text += fmt::format("s_branch {}\n", turn.exit);
  return {first, turn.last, std::move(text)};
}

} // namespace

std::vector<Idea> straighten_loops(const Facts& facts) {
  std::vector<Idea> ideas;
  for (const analysis::Loop& loop : analysis::loops(facts.program, facts.function, facts.graph))
    for (const Turn& turn : turns_of(facts, loop)) {
      std::vector<recover::Edit> straight = {turned(facts, turn, true)}, loose = {turned(facts, turn, false)};
      const double promise = 1.5 * facts.heat_of(turn.first, turn.last);
      const bool skips = straight[0].text != loose[0].text;
      if (skips) ideas.emplace_back(std::move(straight)).rationale = "a loop turned round, without skips in it";
      ideas.emplace_back(std::move(loose)).rationale = "a loop turned round";
      for (size_t k = ideas.size() - (skips ? 2 : 1); k < ideas.size(); ++k) ideas[k].promise = promise;
    }
  return ideas;
}

} // namespace asmevo::search::rewrite
