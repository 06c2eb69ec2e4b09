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
#include "search/drivers/rewrite/list_schedule.h"
#include "search/drivers/rewrite/local.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

/// Pairs that no instruction of a kernel names.
std::vector<isa::RegisterRange> unused_pairs(const Facts& facts, size_t count) {
  std::vector<isa::RegisterRange> pairs;
  if (facts.function.kernel < 0) return pairs;
  std::vector<bool> named(isa::flat_scratch_lo, false);
  for (size_t item = facts.function.first; item < facts.function.last; ++item) {
    if (!facts.is_instruction(item)) continue;
    const isa::Instruction& i = facts.instruction(item);
    for (const auto* ranges : {&i.defs, &i.uses})
      for (const isa::RegisterRange& r : *ranges)
        if (r.file == isa::File::sgpr)
          for (size_t s = r.first; s < std::min<size_t>(size_t{r.first} + r.count, named.size()); ++s) named[s] = true;
  }
  for (uint16_t s = 0; size_t{s} + 2 <= named.size() && pairs.size() < count; s = uint16_t(s + 2))
    if (!named[s] && !named[s + 1] && !facts.live_before(facts.function.first)[s] &&
        !facts.live_before(facts.function.first)[s + 1])
      pairs.push_back({isa::File::sgpr, s, 2});
  return pairs;
}

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
  const std::vector<isa::RegisterRange> pairs = unused_pairs(facts, regions.all().size() + 1);
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

/// Every instruction of a region behind what makes the region's mask.
void add_masks(analysis::DependenceGraph& graph, const ExecRegions& regions, const Dissolved& code) {
  for (uint32_t maker = 0; maker < graph.items.size(); ++maker) {
    const auto region = std::ranges::find(regions.all(), graph.items[maker], &ExecRegion::enter);
    if (region == regions.all().end()) continue;
    const int r = int(region - regions.all().begin());
    for (uint32_t node = maker + 1; node < graph.items.size(); ++node) {
      if (regions.region_of(graph.items[node]) != r) continue;
      const auto known = [&](const analysis::Dependence& d) {
        return d.node == maker && d.kind == analysis::DependenceKind::read_after_write;
      };
      if (std::ranges::any_of(graph.predecessors[node], known)) continue;
      const auto kind = analysis::DependenceKind::read_after_write;
      const uint16_t unit = code.masks[size_t(r)].first;
      graph.predecessors[node].push_back({maker, kind, unit});
      graph.successors[maker].push_back({node, kind, unit});
    }
  }
}

/// The region that a node must run in; nothing where EXEC does not matter to it.
std::optional<int> mask_of(const Dissolved& code, const ExecRegions& regions, size_t item) {
  const isa::Instruction& i = code.program.items[item].instruction;
  if (!reads(i, exec) && !i.traits.vmem && !i.traits.lds && !i.traits.valu) return std::nullopt;
  return regions.region_of(item);
}

std::string text_in(const Dissolved& code, const ExecRegions& regions, const analysis::DependenceGraph& graph,
                    const std::vector<uint32_t>& order) {
  const std::string outside = register_text(code.outside);
  std::string text = fmt::format("s_mov_b64 {}, exec\n", outside);
  int now = no_region;
  const auto go_to = [&](int region) {
    if (region == now) return;
    const std::string mask = region == no_region ? outside : register_text(code.masks[size_t(region)]);
    text += fmt::format("s_mov_b64 exec, {}\n", mask);
    now = region;
  };
  for (const uint32_t node : order) {
    const size_t item = graph.items[node];
    if (code.program.items[item].instruction.traits.branch)
      go_to(no_region);
    else if (const auto region = mask_of(code, regions, item))
      go_to(*region);
    text += recover::print_items(code.program, item, item + 1);
  }
  go_to(no_region);
  return text;
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
  add_masks(graph, *regions, *code);
  // Instructions of one region stay together where nothing speaks against it.
  std::optional<int> last;
  const auto nearer = [&](uint32_t node) {
    return mask_of(*code, *regions, graph.items[node]).value_or(last.value_or(no_region)) == last.value_or(no_region);
  };
  const auto issued = [&](uint32_t node) {
    if (const auto region = mask_of(*code, *regions, graph.items[node])) last = region;
  };
  const std::vector<uint32_t> nodes = list_schedule(code->program, graph, order, nearer, issued);
  if (!graph.allows(nodes)) return {};
  size_t first = block.first;
  while (!facts.is_instruction(first)) ++first;
  return {{first, block.last, text_in(*code, *regions, graph, nodes)}};
}

} // namespace asmevo::search::rewrite
