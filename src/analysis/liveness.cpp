#include "analysis/liveness.h"

#include "analysis/exec.h"

#include <algorithm>

namespace asmevo::analysis {
namespace {

using isa::Instruction;

struct Effect {
  RegisterSet kills, reads;
};

Effect effect_of(const Instruction& i, const RegisterMap& map, bool full) {
  Effect effect;
  effect.reads = map.set_of(i.uses);
  // Scalar results do not depend on EXEC, not even those of vector instructions.
  map.each(i.defs, [&](size_t unit) {
    if (full || !is_vector_unit(unit)) effect.kills.set(unit);
  });
  return effect;
}

} // namespace

Liveness liveness(const recover::Program& program, const recover::Function& function, const Graph& graph) {
  Liveness result{RegisterMap(program, function), {}, {}};
  const size_t count = function.last - function.first;
  result.before.resize(count);
  result.after.resize(count);
  const std::vector<bool> full = full_exec(program, function, graph);

  std::vector<Effect> effects(count);
  std::vector<bool> calls(count);
  for (size_t i = 0; i < count; ++i) {
    const recover::Item& item = program.items[function.first + i];
    if (!is_instruction(item)) continue;
    effects[i] = effect_of(item.instruction, result.registers, full[i]);
    calls[i] = is_call(item.instruction);
  }

  std::vector<RegisterSet> entry(graph.blocks.size());
  const auto leaving = [&](uint32_t b) {
    const Block& block = graph.blocks[b];
    if (block.unknown) return ~RegisterSet();
    RegisterSet live;
    for (uint32_t s : block.successors) live |= entry[s];
    return live;
  };
  const auto walk = [&](uint32_t b, auto&& visit) {
    RegisterSet live = leaving(b);
    for (size_t i = graph.blocks[b].last; i-- > graph.blocks[b].first;) {
      const size_t at = i - function.first;
      const RegisterSet after = live;
      if (calls[at])
        live.set();
      else
        live = (live & ~effects[at].kills) | effects[at].reads;
      visit(at, live, after);
    }
    return live;
  };

  std::vector<uint32_t> order = reverse_postorder(graph);
  std::ranges::reverse(order);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b : order) {
      const RegisterSet live = walk(b, [](size_t, const RegisterSet&, const RegisterSet&) {});
      changed |= live != entry[b];
      entry[b] = live;
    }
  }
  for (uint32_t b = 0; b < graph.blocks.size(); ++b)
    walk(b, [&](size_t at, const RegisterSet& before, const RegisterSet& after) {
      result.before[at] = before;
      result.after[at] = after;
    });
  return result;
}

} // namespace asmevo::analysis
