#include "analysis/liveness.h"

#include "analysis/exec.h"

#include <algorithm>
#include <utility>

namespace asmevo::analysis {
namespace {

using isa::Instruction;

struct Effect {
  RegisterSet kills, reads, results;
  bool may_be_unwanted = false;
  bool lane_by_lane = false; // reads only lanes that are active
  bool writes_exec = false;
};

constexpr isa::RegisterRange exec{isa::File::sgpr, isa::exec_lo, 2};

/// Neither matrix operations, which take all lanes, nor what takes values of other lanes.
bool reads_active_lanes(const Instruction& i) {
  if (i.traits.mfma || i.suffix == isa::Suffix::dpp) return false;
  const std::string_view name = isa::name_of(i);
  for (const std::string_view part : {"lane", "permute", "swizzle"})
    if (name.find(part) != name.npos) return false;
  return i.traits.valu || i.traits.vmem || i.traits.lds;
}

Effect effect_of(const Instruction& i, const RegisterMap& map, bool full) {
  Effect effect;
  effect.reads = map.set_of(i.uses);
  effect.results = map.set_of(i.defs);
  effect.may_be_unwanted = only_computes(i);
  effect.lane_by_lane = reads_active_lanes(i);
  effect.writes_exec = std::ranges::any_of(i.defs, [](const isa::RegisterRange& r) { return r.overlaps(exec); });
  // Scalar results do not depend on EXEC, not even those of vector instructions.
  map.each(i.defs, [&](size_t unit) {
    if (full || !is_vector_unit(unit)) effect.kills.set(unit);
  });
  return effect;
}

} // namespace

bool only_computes(const Instruction& i) {
  const isa::Traits& t = i.traits;
  if (t.branch || t.terminator || t.barrier || t.waitcnt || t.side_effects || t.may_store || t.atomic) return false;
  return (t.valu || t.salu || t.may_load) && !i.defs.empty();
}

Liveness liveness(const recover::Program& program, const recover::Function& function, const Graph& graph,
                  Readers readers) {
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
    RegisterSet live = leaving(b), of_lanes; // wanted of the lanes that are active here, besides
    for (size_t i = graph.blocks[b].last; i-- > graph.blocks[b].first;) {
      const size_t at = i - function.first;
      const RegisterSet after = live | of_lanes;
      const Effect& effect = effects[at];
      if (calls[at])
        live.set();
      else if (readers == Readers::all || !effect.may_be_unwanted || (effect.results & after).any()) {
        if (effect.writes_exec) live |= std::exchange(of_lanes, {});
        live &= ~effect.kills;
        of_lanes &= ~effect.results;
        (readers == Readers::wanted && effect.lane_by_lane ? of_lanes : live) |= effect.reads;
      }
      visit(at, live | of_lanes, after);
    }
    return live | of_lanes;
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
