// Branches around code that does nothing when no lane is active.
//
// `s_cbranch_execz` saves the issue of what it skips, and costs its own issue and a bubble when it is not taken. Around
// a few vector instructions, which do nothing under EXEC = 0, it costs more than it can save. Scalar instructions and
// vector instructions that write scalar registers do act under EXEC = 0, so a span with any of those keeps its branch.
#include "search/drivers/rewrite/rules.h"

namespace asmevo::search::rewrite {

namespace {

constexpr size_t longest_span = 12;

bool idle_without_lanes(const isa::Instruction& i) {
  if (i.traits.waitcnt) return true;
  if (!(i.traits.valu || i.traits.vmem || i.traits.lds) || i.traits.side_effects) return false;
  for (const isa::RegisterRange& def : i.defs)
    if (def.file != isa::File::vgpr) return false;
  return true;
}

/// The item of the label that `item` branches to when everything in between is idle; nothing else.
std::optional<size_t> idle_span_end(const Facts& facts, size_t item) {
  const std::string& target = facts.program.items[item].target;
  for (size_t at = item + 1; at < facts.function.last && at - item <= longest_span + 1; ++at) {
    const recover::Item& next = facts.program.items[at];
    if (next.kind == recover::ItemKind::label && next.text == target) return at;
    if (next.kind != recover::ItemKind::instruction || !idle_without_lanes(next.instruction)) return std::nullopt;
  }
  return std::nullopt;
}

} // namespace

std::vector<Idea> drop_exec_skips(const Facts& facts) {
  Idea all;
  std::vector<Idea> ideas;
  for (size_t item = facts.function.first; item < facts.function.last; ++item) {
    if (!facts.is_instruction(item) || isa::name_of(facts.instruction(item)) != "s_cbranch_execz") continue;
    auto end = idle_span_end(facts, item);
    if (!end) continue;
    Idea one{{{item, item + 1, ""}}, {}, "no branch around idle vector code", facts.heat_of(item, *end)};
    all.edits.push_back(one.edits[0]);
    all.promise += one.promise;
    ideas.push_back(std::move(one));
  }
  if (ideas.size() > 1) {
    all.rationale = fmt::format("no branches around {} spans of idle vector code", ideas.size());
    ideas.insert(ideas.begin(), std::move(all));
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
