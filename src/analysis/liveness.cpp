#include "analysis/liveness.h"

#include "analysis/diamonds.h"
#include "analysis/exec.h"

#include <algorithm>
#include <unordered_map>
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

/// Of what is live in front of a diamond by single writes and reads, what really is: lanes see only what they wrote
/// themselves, and registers that both arms write were written in all.
class Passages {
public:
  Passages(const recover::Program& program, const recover::Function& function, const RegisterMap& map,
           const std::vector<bool>& full) {
    RegisterSet scalars;
    for (size_t unit = 0; unit < register_bits; ++unit) scalars.set(unit, !is_vector_unit(unit));
    for (const Diamond& diamond : diamonds(program, function)) {
      const Passage lanes = passage(program, map, diamond);
      const size_t head = diamond.head - function.first;
      heads_[head] = all_.size();
      for (const size_t join : diamond.joins) joins_[join - function.first].push_back(all_.size());
      all_.push_back({full[head] ? ~lanes.written : ~RegisterSet(), lanes.read | scalars, {}});
    }
  }

  /// Whether more is live behind an instruction than was known before, and it is a join.
  bool learns(size_t at, const RegisterSet& after) {
    const auto join = joins_.find(at);
    if (join == joins_.end()) return false;
    bool more = false;
    for (const size_t d : join->second) {
      more |= (after & ~all_[d].behind).any();
      all_[d].behind |= after;
    }
    return more;
  }

  /// What may be live in front of an instruction.
  RegisterSet limit(size_t at) const {
    const auto head = heads_.find(at);
    if (head == heads_.end()) return ~RegisterSet();
    const Whole& d = all_[head->second];
    return (d.behind & d.kept) | d.read;
  }

private:
  struct Whole {
    RegisterSet kept, read, behind;
  };
  std::vector<Whole> all_;
  std::unordered_map<size_t, size_t> heads_;
  std::unordered_map<size_t, std::vector<size_t>> joins_;
};

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
  Passages passages(program, function, result.registers, full);

  std::vector<RegisterSet> entry(graph.blocks.size());
  const auto leaving = [&](uint32_t b) {
    const Block& block = graph.blocks[b];
    if (block.unknown) return ~RegisterSet();
    RegisterSet live;
    for (uint32_t s : block.successors) live |= entry[s];
    return live;
  };
  bool learned = false;
  const auto walk = [&](uint32_t b, auto&& visit) {
    RegisterSet live = leaving(b), of_lanes; // wanted of the lanes that are active here, besides
    for (size_t i = graph.blocks[b].last; i-- > graph.blocks[b].first;) {
      const size_t at = i - function.first;
      const RegisterSet after = live | of_lanes;
      const Effect& effect = effects[at];
      learned |= passages.learns(at, after);
      if (calls[at])
        live.set();
      else if (readers == Readers::all || !effect.may_be_unwanted || (effect.results & after).any()) {
        if (effect.writes_exec) live |= std::exchange(of_lanes, {});
        live &= ~effect.kills;
        of_lanes &= ~effect.results;
        (readers == Readers::wanted && effect.lane_by_lane ? of_lanes : live) |= effect.reads;
      }
      live &= passages.limit(at);
      visit(at, live | of_lanes, after);
    }
    return live | of_lanes;
  };

  std::vector<uint32_t> order = reverse_postorder(graph);
  std::ranges::reverse(order);
  for (bool changed = true; changed;) {
    changed = learned = false;
    for (uint32_t b : order) {
      const RegisterSet live = walk(b, [](size_t, const RegisterSet&, const RegisterSet&) {});
      changed |= live != entry[b];
      entry[b] = live;
    }
    changed |= learned;
  }
  for (uint32_t b = 0; b < graph.blocks.size(); ++b)
    walk(b, [&](size_t at, const RegisterSet& before, const RegisterSet& after) {
      result.before[at] = before;
      result.after[at] = after;
    });
  return result;
}

} // namespace asmevo::analysis
