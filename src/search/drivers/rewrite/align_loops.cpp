// Loops that begin where fetching them is cheap.
//
// A branch fetches the block of 32 bytes that its target lies in, and one more before anything can issue where the
// target's first instruction reaches into the next. For a loop that is paid in every iteration; s_nops in front of it,
// which its alignment may cost, are paid once.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

constexpr uint64_t fetch_block = 32; // bytes

bool is_loop_head(const Facts& facts, size_t label) {
  const std::string& name = facts.program.items[label].text;
  return std::any_of(facts.program.items.begin() + std::ptrdiff_t(label),
                     facts.program.items.begin() + std::ptrdiff_t(facts.function.last), [&](const recover::Item& item) {
                       return item.kind == recover::ItemKind::instruction && item.instruction.traits.branch &&
                              item.target == name;
                     });
}

bool is_aligned(const Facts& facts, size_t label) {
  return label > facts.function.first && facts.program.items[label - 1].kind == recover::ItemKind::align;
}

} // namespace

std::vector<Idea> align_loops(const Facts& facts) {
  std::vector<Idea> ideas;
  for (size_t item = facts.function.first; item + 1 < facts.function.last; ++item) {
    if (facts.program.items[item].kind != recover::ItemKind::label || !facts.is_instruction(item + 1)) continue;
    const isa::Instruction& first = facts.instruction(item + 1);
    const bool crosses = first.address % fetch_block + first.size > fetch_block;
    if (!crosses || is_aligned(facts, item) || !is_loop_head(facts, item)) continue;
    ideas.push_back(
        {{{item, item, ".p2align 5\n"}}, {}, "loop begins in one fetch block", facts.heat_of(item, item + 2)});
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
