#include "agent/window_facts.h"

#include "profile/occupancy.h"

#include <algorithm>

namespace asmevo::agent {
namespace {

using analysis::RegisterSet;
using recover::Item;
using recover::ItemKind;

uint32_t room(const std::vector<profile::Spare>& spare, std::string_view resource) {
  for (const profile::Spare& s : spare)
    if (s.resource == resource) return s.free;
  return 0;
}

/// Registers that the kernel may use without losing occupancy.
RegisterSet usable(const CodeView& view, uint32_t workgroup_size, uint32_t dynamic_lds) {
  const isa::Resources& declared = view.program->declared[size_t(view.function->kernel)];
  const auto spare = profile::spare(declared, view.program->target.processor, workgroup_size, dynamic_lds);
  RegisterSet set;
  const auto add = [&](size_t base, size_t count) {
    for (size_t i = 0; i < count; ++i) set.set(base + i);
  };
  add(0, std::min<size_t>(declared.sgprs + room(spare, "SGPRs"), 102));
  add(analysis::vgpr_unit, std::min<size_t>(declared.vgprs + room(spare, "VGPRs"), 256));
  add(analysis::agpr_unit, std::min<size_t>(declared.agprs, 256));
  return set;
}

/// Calls `visit(item)` for every item outside the window that control may go to from inside.
template <class Visit> void exits(const CodeView& view, Range range, Visit&& visit) {
  const size_t base = view.function->first;
  for (size_t i = range.first; i < range.last; ++i) {
    const analysis::Block& block = view.graph.blocks[view.graph.block_of[i - base]];
    if (i + 1 < block.last) continue;
    for (uint32_t successor : block.successors)
      if (const size_t to = view.graph.blocks[successor].first; to < range.first || to >= range.last) visit(to);
  }
  const analysis::Block& last = view.graph.blocks[view.graph.block_of[range.last - 1 - base]];
  if (range.last < last.last) visit(range.last);
}

bool entered_inside(const CodeView& view, Range range) {
  for (uint32_t b = 0; b < view.graph.blocks.size(); ++b) {
    const analysis::Block& block = view.graph.blocks[b];
    if (block.first <= range.first || block.first >= range.last) continue;
    if (std::ranges::find(view.graph.entries, b) != view.graph.entries.end()) return true;
    for (uint32_t p : block.predecessors) {
      const size_t from = view.graph.blocks[p].last - 1;
      if (from < range.first || from >= range.last) return true;
    }
  }
  return false;
}

} // namespace

WindowFacts facts_of(const CodeView& view, Range range, uint32_t workgroup_size, uint32_t dynamic_lds) {
  const recover::Program& program = *view.program;
  const recover::Function& function = *view.function;
  const analysis::Liveness live = analysis::liveness(program, function, view.graph);
  WindowFacts facts;
  facts.live_in = live.before[range.first - function.first];
  RegisterSet taken = facts.live_in;
  for (size_t i = range.first; i < range.last; ++i) {
    taken |= live.before[i - function.first] | live.after[i - function.first];
    if (!analysis::is_instruction(program.items[i])) continue;
    taken |= live.registers.set_of(program.items[i].instruction.defs);
    taken |= live.registers.set_of(program.items[i].instruction.uses);
  }
  facts.free = usable(view, workgroup_size, dynamic_lds) & ~taken;
  exits(view, range, [&](size_t to) {
    facts.live_out |= live.before[to - function.first];
    facts.falls_through |= to == range.last;
    if (to != range.last && program.items[to].kind == ItemKind::label)
      facts.branches_to.push_back(program.items[to].text);
  });
  facts.entered_inside = entered_inside(view, range);
  facts.in_flight_in = analysis::in_flight_before(program, function, view.graph, range.first);
  if (range.last < function.last)
    facts.in_flight_out = analysis::in_flight_before(program, function, view.graph, range.last);
  facts.indexed =
      std::any_of(program.items.begin() + ptrdiff_t(function.first), program.items.begin() + ptrdiff_t(function.last),
                  [](const Item& item) { return analysis::is_instruction(item) && item.instruction.traits.relative; });
  return facts;
}

std::vector<std::string> register_names(const RegisterSet& registers) {
  struct Bank {
    size_t base, count;
    char prefix;
  };
  constexpr Bank banks[] = {{0, 102, 's'}, {analysis::vgpr_unit, 512, 'v'}, {analysis::agpr_unit, 256, 'a'}};
  std::vector<std::string> names;
  for (size_t unit = 0; unit < analysis::register_bits; ++unit) {
    if (!registers.test(unit)) continue;
    const Bank* bank =
        std::ranges::find_if(banks, [&](const Bank& b) { return unit >= b.base && unit < b.base + b.count; });
    if (bank == std::end(banks)) {
      names.push_back(analysis::register_name(unit));
      continue;
    }
    size_t last = unit;
    while (last + 1 < bank->base + bank->count && registers.test(last + 1)) ++last;
    names.push_back(last == unit ? fmt::format("{}{}", bank->prefix, unit - bank->base)
                                 : fmt::format("{}[{}:{}]", bank->prefix, unit - bank->base, last - bank->base));
    unit = last;
  }
  return names;
}

} // namespace asmevo::agent
