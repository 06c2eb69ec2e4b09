// Branches around code that does nothing when no lane is active.
//
// `s_cbranch_execz` saves the issue of what it skips, and costs its own issue and a bubble when it is not taken. Around
// a few vector instructions, which do nothing under EXEC = 0, it costs more than it can save. Scalar instructions and
// vector instructions that write scalar registers do act under EXEC = 0, so a span with any of those keeps its branch.
//
// A label that only the branch named goes with it: it would cut a block in two.
#include "search/drivers/rewrite/exec_skips.h"

#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <numeric>

namespace asmevo::search::rewrite {

namespace {

constexpr size_t longest_span = 12;

bool idle_without_lanes(const isa::Instruction& i) {
  if (i.traits.waitcnt) return true;
  if (!(i.traits.valu || i.traits.vmem || i.traits.lds) || i.traits.side_effects) return false;
  return std::ranges::all_of(i.defs, [](const isa::RegisterRange& def) { return def.file == isa::File::vgpr; });
}

/// Where among `items` the label is that the first of them skips to; nothing where it skips anything that matters.
std::optional<size_t> idle_span(const Facts& facts, std::span<const size_t> items) {
  const recover::Item& branch = facts.program.items[items.front()];
  if (branch.kind != recover::ItemKind::instruction || isa::name_of(branch.instruction) != "s_cbranch_execz")
    return std::nullopt;
  for (size_t k = 1; k < items.size() && k <= longest_span + 1; ++k) {
    const recover::Item& next = facts.program.items[items[k]];
    if (next.kind == recover::ItemKind::label && next.text == branch.target) return k;
    if (next.kind == recover::ItemKind::label) continue;
    if (next.kind != recover::ItemKind::instruction || !idle_without_lanes(next.instruction)) return std::nullopt;
  }
  return std::nullopt;
}

bool named_once(const Facts& facts, std::string_view label) {
  return std::ranges::count(facts.program.items, label, &recover::Item::target) == 1 &&
         !is_anchored(facts.program, label);
}

} // namespace

bool skips_idle_code(const Facts& facts, std::span<const size_t> items) { return idle_span(facts, items).has_value(); }

bool is_anchored(const recover::Program& program, std::string_view label) {
  return std::ranges::any_of(program.functions, [&](const auto& f) { return f.name == label; }) ||
         (program.surroundings &&
          (std::ranges::any_of(program.surroundings->references, [&](const auto& r) { return r.label == label; }) ||
           std::ranges::any_of(program.surroundings->ends, [&](const auto& e) { return e.label == label; })));
}

std::vector<Idea> drop_exec_skips(const Facts& facts) {
  Idea all;
  std::vector<Idea> ideas;
  std::vector<size_t> items(facts.function.last - facts.function.first);
  std::iota(items.begin(), items.end(), facts.function.first);
  for (size_t item = facts.function.first; item < facts.function.last; ++item) {
    const auto span = idle_span(facts, std::span(items).subspan(item - facts.function.first));
    if (!span) continue;
    const size_t end = item + *span;
    Idea one{{{item, item + 1, ""}}, {}, "no branch around idle vector code", facts.heat_of(item, end)};
    if (named_once(facts, facts.program.items[end].text)) one.edits.push_back({end, end + 1, ""});
    all.edits.insert(all.edits.end(), one.edits.begin(), one.edits.end());
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
