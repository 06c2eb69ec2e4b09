#include "search/drivers/rewrite/rule.h"

#include "isa/resources.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace asmevo::search::rewrite {

namespace {

using enum Direction;
constexpr Rule catalogue[] = {
    {"tighten-waits", latency_hiding, false, tighten_waits},
    {"recompute-reloads", register_pressure, false, recompute_reloads},
    {"spills-to-registers", register_pressure, false, spills_to_registers},
    {"straighten-loops", instruction_simplification, false, straighten_loops},
    {"whole-loops", latency_hiding, false, whole_loops},
    {"unroll-loops", latency_hiding, false, unroll_loops, true, 6},
    {"pipeline-loops", latency_hiding, false, pipeline_loops, true, 4},
    {"reduction-trees", latency_hiding, false, reduction_trees},
    {"uniform-branches", instruction_simplification, false, uniform_branches},
    {"fast-tanh", instruction_simplification, true, fast_tanh, true, 2},
    {"fast-erf", instruction_simplification, true, fast_erf, true, 2},
    {"flatten-guards", latency_hiding, false, flatten_guards, true, 2},
    {"fast-division", instruction_simplification, true, fast_division},
    {"unguarded-exp", instruction_simplification, true, unguarded_exp},
    {"fast-square-root", instruction_simplification, true, fast_square_root},
    {"reciprocal-square-root", instruction_simplification, true, reciprocal_square_root},
    {"fast-exponential", instruction_simplification, true, fast_exponential},
    {"fast-logarithm", instruction_simplification, true, fast_logarithm},
    {"quiet-twice", instruction_simplification, false, quiet_twice},
    {"lane-bits", instruction_simplification, false, lane_bits},
    {"copies-back", instruction_simplification, false, copies_back},
    {"lane-exchanges", latency_hiding, false, lane_exchanges},
    {"scalar-loads", memory_access, false, scalar_loads},
    {"merge-memory", memory_access, false, merge_memory, false},
    {"constants", instruction_simplification, false, constants},
    {"strength-reduction", instruction_simplification, false, strength_reduction},
    {"scalar-arithmetic", instruction_simplification, false, scalar_arithmetic},
    {"hoist-invariants", instruction_simplification, false, hoist_invariants},
    {"swizzle-lds", memory_access, false, swizzle_lds},
    {"remove-duplicates", instruction_simplification, false, remove_duplicates, false},
    {"split-accumulators", dependency_reduction, true, split_accumulators, true, 2},
    {"split-integer-accumulators", dependency_reduction, false, split_integer_accumulators, true, 2},
    {"packed-arithmetic", instruction_simplification, false, packed_arithmetic},
    {"packed-halves", instruction_simplification, false, packed_halves},
    {"remove-dead-code", instruction_simplification, false, remove_dead_code},
    {"drop-exec-skips", instruction_simplification, false, drop_exec_skips},
    {"rematerialise", register_pressure, false, rematerialise},
    {"compact-registers", register_pressure, false, compact_registers},
    {"schedule-blocks", latency_hiding, false, schedule_blocks, true, 2},
    {"cache-policy", memory_access, false, cache_policy, true, 3},
    {"raise-priority", latency_hiding, false, raise_priority},
    {"align-loops", latency_hiding, false, align_loops},
    {"improve-schedule", latency_hiding, false, improve_schedule, true, 1, false},
};

uint32_t highest_vgpr(const recover::Program& program, const recover::Function& function) {
  uint32_t used = 0;
  for (size_t item = function.first; item < function.last; ++item) {
    if (program.items[item].kind != recover::ItemKind::instruction) continue;
    const isa::Instruction& i = program.items[item].instruction;
    for (const auto* ranges : {&i.defs, &i.uses})
      for (const isa::RegisterRange& r : *ranges)
        if (r.file == isa::File::vgpr) used = std::max(used, uint32_t{r.first} + r.count);
  }
  return used;
}

/// The largest number of VGPRs with which as many waves fit as now.
uint32_t budget_of(const State& state, uint32_t used) {
  if (state.function->kernel < 0) return used;
  isa::Resources resources = state.program->declared[size_t(state.function->kernel)];
  isa::Processor processor = state.program->target.processor;
  auto waves = [&](uint32_t vgprs) {
    isa::Resources r = resources;
    r.vgprs = vgprs;
    r.accum_offset = std::max(r.accum_offset, (vgprs + 3) & ~3u);
    return isa::occupancy(r, processor, 64, 0).waves_per_simd;
  };
  uint32_t now = waves(used), budget = used;
  while (budget < 256 && waves(budget + 1) == now) ++budget;
  return budget;
}

struct Heat {
  std::vector<double> by_item, conflicts;
  std::vector<LinesOf> lines;
};

/// Items and image instructions are both in address order.
std::optional<uint32_t> index_in(const machine::Image& image, const recover::Item& item) {
  if (item.kind != recover::ItemKind::instruction) return std::nullopt;
  const auto& instructions = image.instructions();
  const auto at = std::ranges::lower_bound(instructions, item.instruction.address, {}, &isa::Instruction::address);
  if (at == instructions.end() || at->address != item.instruction.address) return std::nullopt;
  return static_cast<uint32_t>(at - instructions.begin());
}

/// From the modelled cycles of each instruction.
Heat heat_of_items(const State& state) {
  const size_t count = state.function->last - state.function->first;
  Heat heat{.by_item = std::vector<double>(count, 0.0),
            .conflicts = std::vector<double>(count, 0.0),
            .lines = std::vector<LinesOf>(count)};
  if (!state.estimate || state.estimate->attribution.empty() || !state.image) return heat;
  for (size_t item = state.function->first; item < state.function->last; ++item) {
    const auto index = index_in(*state.image, state.program->items[item]);
    if (!index) continue;
    const timing::Attribution& a = state.estimate->attribution[*index];
    heat.by_item[item - state.function->first] =
        a.issue_cycles + std::accumulate(a.stall_cycles.begin(), a.stall_cycles.end(), 0.0);
    heat.conflicts[item - state.function->first] = a.stall_cycles[size_t(timing::Stall::lds_conflict)];
    heat.lines[item - state.function->first] = {.asked = a.lines, .reused = a.reused_in_l1 + a.reused_in_l2};
  }
  return heat;
}

} // namespace

double Facts::heat_of(size_t first, size_t last) const {
  double sum = 0;
  for (size_t item = first; item < last && item < function.last; ++item) sum += heat[item - function.first];
  return sum;
}

std::optional<uint32_t> Facts::in_image(size_t item) const {
  return image ? index_in(*image, program.items[item]) : std::nullopt;
}

Facts gather(const State& state) {
  uint32_t used = highest_vgpr(*state.program, *state.function);
  analysis::Graph graph = analysis::control_flow(*state.program, *state.function);
  analysis::Liveness liveness = analysis::liveness(*state.program, *state.function, graph);
  Heat heat = heat_of_items(state);
  const double conflicts = std::accumulate(heat.conflicts.begin(), heat.conflicts.end(), 0.0);
  return {.program = *state.program,
          .function = *state.function,
          .codec = *state.codec,
          .graph = std::move(graph),
          .liveness = std::move(liveness),
          .heat = std::move(heat.by_item),
          .lds_conflicts = conflicts,
          .conflicts_of = std::move(heat.conflicts),
          .lines_of = std::move(heat.lines),
          .allow_float_rewrites = state.allow_float_rewrites,
          .vgprs_used = used,
          .vgpr_budget = budget_of(state, used),
          .least_gain = state.least_gain,
          .estimate = state.estimate,
          .image = state.image};
}

Facts gather_after(const Facts& facts, const recover::Program& program) {
  const recover::Function& function = program.functions[function_index(facts)];
  Facts after = gather({.program = &program,
                        .function = &function,
                        .codec = &facts.codec,
                        .allow_float_rewrites = facts.allow_float_rewrites});
  std::unordered_map<int64_t, size_t> known; // items by origin
  for (size_t item = facts.function.first; item < facts.function.last; ++item)
    if (facts.program.items[item].origin >= 0) known[facts.program.items[item].origin] = item - facts.function.first;
  for (size_t item = function.first; item < function.last; ++item) {
    const auto at = known.find(program.items[item].origin);
    if (at == known.end()) continue;
    after.heat[item - function.first] = facts.heat[at->second];
    after.conflicts_of[item - function.first] = facts.conflicts_of[at->second];
    after.lds_conflicts += facts.conflicts_of[at->second];
    after.lines_of[item - function.first] = facts.lines_of[at->second];
  }
  return after;
}

std::span<const Rule> all_rules() { return catalogue; }

std::vector<uint16_t> free_vgprs(const Facts& facts, size_t item, std::span<const isa::RegisterRange> read) {
  analysis::RegisterSet busy = facts.live_after(item);
  for (const isa::RegisterRange& range : read) busy |= analysis::set_of({range});
  std::vector<uint16_t> free;
  for (uint16_t v = 0; v < facts.vgpr_budget; ++v)
    if (!busy[analysis::bit_of(isa::File::vgpr, v)]) free.push_back(v);
  return free;
}

} // namespace asmevo::search::rewrite
