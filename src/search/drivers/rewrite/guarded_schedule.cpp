// List scheduling across guarded regions.
//
// EXEC is a register that every vector instruction reads, so in a block that narrows and restores it nothing leaves its
// region: the load of the second region waits for the use of the first one's. But what a region does is known when its
// mask is. So masks get registers of their own, regions are dissolved, each instruction depends on its mask instead of
// on EXEC, and what comes out of the scheduler is put under the masks that it needs by plain moves to EXEC. A load is
// then issued for exactly the lanes for which it was, only earlier.
//
//     s_and_saveexec_b64 s[6:7], vcc       s_and_b64 s[30:31], s[28:29], vcc      ; s[28:29]: EXEC before
//     global_load_dword v5, v[0:1], off    s_mov_b64 exec, s[30:31]
//     v_add_u32 v4, v5, v4                 global_load_dword v5, v[0:1], off
//     s_or_b64 exec, exec, s[6:7]          ...
#include "search/drivers/rewrite/guarded_schedule.h"

#include "analysis/dependence.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/apart.h"
#include "search/drivers/rewrite/exec_regions.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/masked_order.h"
#include "search/drivers/rewrite/scalar_registers.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

/// Whether nobody asks for what taking the regions apart no longer leaves behind: SCC of the restore, the saved mask,
/// EXEC as a number.
bool can_be_dissolved(const Facts& facts, const analysis::Block& block, const ExecRegions& regions) {
  for (const ExecRegion& region : regions.all()) {
    if (facts.live_after(region.leave)[analysis::scc_unit]) return false;
    for (uint16_t s = region.saved.first; s < region.saved.first + 2; ++s)
      if (facts.live_after(region.leave)[analysis::bit_of(isa::File::sgpr, s)]) return false;
    if (read_between(facts, region.saved, region.enter + 1, region.leave)) return false;
  }
  for (size_t item = block.first; item < block.last; ++item) {
    if (!facts.is_instruction(item)) continue;
    const isa::Instruction& i = facts.instruction(item);
    const bool guards = std::ranges::any_of(
        regions.all(), [&](const ExecRegion& region) { return item == region.enter || item == region.leave; });
    if (!guards && (i.traits.salu || i.traits.branch) && reads(i, exec)) return false;
  }
  return true;
}

struct Dissolved {
  recover::Program program; // with the same items: waits stand where EXEC was restored
  isa::RegisterRange outside;
  std::vector<isa::RegisterRange> masks; // by region
};

std::optional<Dissolved> dissolved(const Facts& facts, const ExecRegions& regions) {
  const std::vector<isa::RegisterRange> pairs = unused_sgprs(facts, regions.all().size() + 1, 2);
  if (pairs.size() < regions.all().size() + 1) return std::nullopt;
  std::vector<recover::Edit> edits;
  std::vector<bool> gone(facts.program.items.size(), false);
  for (size_t r = 0; r < regions.all().size(); ++r) {
    const ExecRegion& region = regions.all()[r];
    const isa::RegisterRange& around = region.parent == no_region ? pairs[0] : pairs[size_t(region.parent) + 1];
    edits.push_back(
        {region.enter, region.enter + 1,
         fmt::format("s_and_b64 {}, {}, {}\n", register_text(pairs[r + 1]), register_text(around), region.condition)});
    if (!gone[region.leave]) edits.push_back({region.leave, region.leave + 1, "s_nop 0\n"});
    gone[region.leave] = true;
  }
  std::ranges::sort(edits, {}, &recover::Edit::first);
  auto program = recover::apply(facts.program, edits, facts.codec);
  if (!program) return std::nullopt;
  return Dissolved{*std::move(program), pairs[0], {pairs.begin() + 1, pairs.end()}};
}

/// The masks and what runs under each; where EXEC does not matter to an instruction it is not named.
MaskedItems masked(const Dissolved& code, const ExecRegions& regions, const analysis::DependenceGraph& graph) {
  MaskedItems items{.program = code.program, .masks = {code.outside}, .mask_of = {}};
  items.masks.insert(items.masks.end(), code.masks.begin(), code.masks.end());
  for (const size_t item : graph.items) {
    const isa::Instruction& i = code.program.items[item].instruction;
    if (reads(i, exec) || i.traits.vmem || i.traits.lds || i.traits.valu)
      items.mask_of[item] = size_t(regions.region_of(item) - no_region);
  }
  return items;
}

} // namespace

std::vector<recover::Edit> scheduled_with_guards(const Facts& facts, const analysis::Block& block, Order order,
                                                 const std::vector<Apart>& pairs) {
  const auto regions = ExecRegions::find(facts, block);
  if (!regions || regions->all().empty() || !can_be_dissolved(facts, block, *regions)) return {};
  const auto code = dissolved(facts, *regions);
  if (!code) return {};
  const size_t function = function_index(facts);
  analysis::DependenceGraph graph =
      analysis::dependences(code->program, code->program.functions[function], block.first, block.last);
  forget_order(code->program, graph, pairs);
  const MaskedItems items = masked(*code, *regions, graph);
  add_masks(graph, items);
  const std::vector<uint32_t> nodes = masked_schedule(items, graph, order);
  if (!graph.allows(nodes)) return {};
  size_t first = block.first;
  while (!facts.is_instruction(first)) ++first;
  return {{first, block.last,
           fmt::format("s_mov_b64 {}, exec\n", register_text(code->outside)) + masked_text(items, graph, nodes)}};
}

} // namespace asmevo::search::rewrite
