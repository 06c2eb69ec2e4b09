// From an idea to a proposal.
//
// A rule says what to put where and nothing about what follows from it. Here the edits are carried out, what they left
// behind is cleaned up, and the waits and nops of every touched block are taken out and put back as the new code needs
// them. What comes out is compared with the program that the idea was for, so that the proposal holds exactly what
// changed.
#include "analysis/repair.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/cleanup.h"
#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

namespace {

/// Original addresses in the blocks that the idea names or edits.
Touched touched_by(const Facts& facts, const Idea& idea) {
  Touched touched;
  auto touch = [&](const analysis::Block& block) {
    for (size_t item = block.first; item < block.last; ++item)
      if (facts.is_instruction(item)) touched.insert(facts.program.items[item].origin);
  };
  for (uint32_t block : idea.blocks) touch(facts.graph.blocks[block]);
  for (const recover::Edit& edit : idea.edits)
    for (const analysis::Block& block : facts.graph.blocks)
      if (edit.first < block.last && edit.last >= block.first) touch(block);
  return touched;
}

size_t index_of(const recover::Program& program, const recover::Function& function) {
  for (size_t i = 0; i < program.functions.size(); ++i)
    if (program.functions[i].first == function.first) return i;
  return 0;
}

/// Waits and nops of each touched block renewed. Blocks keep their number: only waits come and go.
recover::Program with_new_waits(recover::Program program, size_t function, const Touched& touched,
                                const isa::Codec& codec) {
  analysis::Graph graph = analysis::control_flow(program, program.functions[function]);
  std::vector<bool> renew;
  for (const analysis::Block& block : graph.blocks)
    renew.push_back(is_touched(program, block.first, block.last, touched));
  return analysis::renewed(std::move(program), function, renew, codec);
}

} // namespace

std::optional<std::vector<recover::Edit>> complete(const Facts& facts, const Idea& idea) {
  size_t function = index_of(facts.program, facts.function);
  Touched touched = touched_by(facts, idea);
  auto edited = recover::apply(facts.program, idea.edits, facts.codec);
  if (!edited) return std::nullopt;
  auto clean = clean_up(std::move(*edited), function, touched, facts.codec);
  if (!clean) return std::nullopt;
  return difference(facts.program, with_new_waits(std::move(*clean), function, touched, facts.codec));
}

} // namespace asmevo::search::rewrite
