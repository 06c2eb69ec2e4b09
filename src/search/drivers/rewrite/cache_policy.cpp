// Data that nobody wants again, marked as such.
//
// A line that is read or written once and never again still takes a place in the caches, and what is thrown out for it
// may be what the kernel reads all the time. Vector memory instructions can say that their data will not be wanted
// again
// (`nt`; `slc` before gfx942): then such lines leave first. That is a hint and changes no result, so what it is put on
// is only a question of time, and the model has counted: an instruction streams where next to none of its lines were
// found in a cache by the next access to them, here or on the other compute units of the XCD.
//
// Only where something else of the kernel is found again is there anything to win. The scope bits next to the hint
// (sc0, sc1, glc) say who must see an access and are part of what the program means: an instruction that has one is
// left as it is.
//
// Where lines of an instruction with `nt` are wanted again after all, the hint is taken away. `slc` is not: manuals of
// the older parts describe it as coherence with the system.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

constexpr double streams_below = 0.05, kept_from = 0.25; // shares of an instruction's lines that are found again

bool has_modifier(std::string_view modifiers, std::string_view name) {
  for (size_t at = modifiers.find(name); at != std::string_view::npos; at = modifiers.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (at > 0 && modifiers[at - 1] == ' ' && (end == modifiers.size() || modifiers[end] == ' ')) return true;
  }
  return false;
}

bool has_scope(std::string_view modifiers) {
  constexpr std::array names = {"sc0", "sc1", "glc", "scc", "dlc"};
  return std::ranges::any_of(names, [&](const char* name) { return has_modifier(modifiers, name); });
}

struct Access {
  size_t item;
  InstructionText text;
  bool store, streams, kept, hinted;
};

/// Loads and stores of global memory that the model has seen, without scope.
std::vector<Access> accesses_of(const Facts& facts, std::string_view hint) {
  std::vector<Access> accesses;
  for (size_t item = facts.function.first; item < facts.function.last; ++item) {
    if (!facts.is_instruction(item) || facts.program.items[item].raw) continue;
    const isa::Instruction& i = facts.instruction(item);
    const LinesOf& lines = facts.lines_of[item - facts.function.first];
    const bool plain = i.traits.vmem && !i.traits.atomic && i.traits.may_load != i.traits.may_store;
    if (!plain || i.encoding == isa::Encoding::scratch || lines.asked == 0) continue;
    InstructionText text = parse_instruction(facts.program.items[item].text);
    if (has_scope(text.modifiers)) continue;
    const bool hinted = has_modifier(text.modifiers, hint);
    accesses.push_back({.item = item,
                        .text = std::move(text),
                        .store = i.traits.may_store,
                        .streams = lines.reused < streams_below * lines.asked,
                        .kept = lines.reused >= kept_from * lines.asked,
                        .hinted = hinted});
  }
  return accesses;
}

recover::Edit with_hint(Access access, std::string_view hint) {
  access.text.modifiers += fmt::format(" {}", hint);
  return {access.item, access.item + 1, write_instruction(access.text) + "\n"};
}

recover::Edit without_hint(Access access, std::string_view hint) {
  access.text.modifiers.erase(access.text.modifiers.find(fmt::format(" {}", hint)), hint.size() + 1);
  return {access.item, access.item + 1, write_instruction(access.text) + "\n"};
}

} // namespace

std::vector<Idea> cache_policy(const Facts& facts) {
  const bool scoped = facts.program.target.processor >= isa::Processor::gfx942;
  const std::string_view hint = scoped ? "nt" : "slc";
  const std::vector<Access> accesses = accesses_of(facts, hint);
  const double promise = facts.heat_of(facts.function.first, facts.function.last) / 8;
  struct Kind {
    bool loads, stores;
    const char* what;
  };
  constexpr std::array kinds = {Kind{true, true, "loads and stores"}, Kind{true, false, "loads"},
                                Kind{false, true, "stores"}};
  const auto streams = [](const Access& a) { return a.streams && !a.hinted; };
  const bool both = std::ranges::any_of(accesses, [&](const Access& a) { return streams(a) && a.store; }) &&
                    std::ranges::any_of(accesses, [&](const Access& a) { return streams(a) && !a.store; });
  std::vector<Idea> ideas;
  for (unsigned k = 0; k < kinds.size() && std::ranges::any_of(accesses, &Access::kept); ++k) {
    if (k == 0 && !both) continue;
    Idea idea{.rationale = fmt::format("{} whose lines nobody wants again leave the caches first", kinds[k].what),
              .promise = promise,
              .variant = both ? k : 0};
    for (const Access& access : accesses)
      if (streams(access) && (access.store ? kinds[k].stores : kinds[k].loads))
        idea.edits.push_back(with_hint(access, hint));
    if (!idea.edits.empty()) ideas.push_back(std::move(idea));
  }
  Idea kept{.rationale = "lines that are wanted again stay in the caches", .promise = promise};
  for (const Access& access : accesses)
    if (scoped && access.hinted && access.kept) kept.edits.push_back(without_hint(access, hint));
  if (!kept.edits.empty()) ideas.push_back(std::move(kept));
  return ideas;
}

} // namespace asmevo::search::rewrite
