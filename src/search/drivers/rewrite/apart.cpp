#include "search/drivers/rewrite/apart.h"

#include "analysis/memory.h"
#include "search/drivers/rewrite/local.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

constexpr size_t most_pairs = 4;
constexpr isa::RegisterRange vcc{isa::File::sgpr, isa::vcc_lo, 2};

bool stores_only(const isa::Instruction& i) { return i.traits.may_store && !i.traits.may_load; }
bool loads_only(const isa::Instruction& i) { return i.traits.may_load && !i.traits.may_store; }

bool all_uses(const Facts& facts, const Stepper& stepper, bool (*are)(const isa::Instruction&)) {
  return std::ranges::all_of(stepper.uses, [&](size_t use) { return are(facts.instruction(use)); });
}

/// From the first byte to behind the last that is accessed in one iteration; nothing where a width is not known.
std::optional<std::pair<int64_t, int64_t>> span_of(const Facts& facts, const Stepper& stepper) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (const size_t use : stepper.uses) {
    const int64_t offset = stepper.offset(use, parse_instruction(facts.program.items[use].text)),
                  bytes = analysis::access_bytes(isa::name_of(facts.instruction(use)));
    if (bytes == 0) return std::nullopt;
    low = std::min(low, offset);
    high = std::max(high, offset + bytes);
  }
  return std::pair{low, high};
}

/// Distances from load to store in [1, near) may meet within a round; nothing where others may too.
std::optional<int64_t> near_of(const Facts& facts, const Stepper& store, const Stepper& load, uint64_t times) {
  if (store.range.count != 2 || load.range.count != 2 || store.by != load.by) return std::nullopt;
  const auto stored = span_of(facts, store), loaded = span_of(facts, load);
  if (!stored || !loaded || load.by + loaded->first < stored->second) return std::nullopt;
  const int64_t near = load.by * int64_t(times) + loaded->second - stored->first;
  return near > 1 && near <= 0x7fffffff ? std::optional(near) : std::nullopt;
}

std::vector<isa::RegisterRange> addresses_of(const Stepper& stepper) {
  std::vector<isa::RegisterRange> addresses{stepper.range};
  if (stepper.second) addresses.push_back(*stepper.second);
  return addresses;
}

std::vector<uint16_t> free_vgprs_of(const Facts& facts, const analysis::Block& block, size_t count) {
  std::vector<uint16_t> free;
  for (uint16_t v = 0; v < facts.vgpr_budget && free.size() < count; ++v)
    if (is_free(facts, block, {isa::File::vgpr, v, 1})) free.push_back(v);
  return free;
}

} // namespace

ApartTest apart_test(const Facts& facts, const analysis::Block& block, const std::vector<Stepper>& steppers,
                     uint64_t times, const std::string& otherwise) {
  const analysis::RegisterSet& live = facts.live_before(block.first);
  const std::vector<uint16_t> free = free_vgprs_of(facts, block, 2);
  const auto mask = free_pair(facts, block);
  if (free.size() < 2 || !mask || live[analysis::scc_unit] || live[analysis::bit_of(vcc.file, isa::vcc_lo)] ||
      live[analysis::bit_of(vcc.file, isa::vcc_hi)])
    return {};
  const std::string low = fmt::format("v{}", free[0]), high = fmt::format("v{}", free[1]), both = register_text(*mask);
  ApartTest test;
  for (const Stepper& store : steppers) {
    if (!all_uses(facts, store, stores_only)) continue;
    for (const Stepper& load : steppers) {
      const auto near =
          all_uses(facts, load, loads_only) ? near_of(facts, store, load, times) : std::optional<int64_t>();
      if (!near) continue;
      test.pairs.push_back({addresses_of(store), addresses_of(load)});
      // The distance less one, so that nothing becomes the largest number of all.
      test.lines += fmt::format("s_mov_b64 vcc, exec\n"
                                "v_subb_co_u32_e32 {0}, vcc, v{2}, v{3}, vcc\n"
                                "v_subb_co_u32_e32 {1}, vcc, v{4}, v{5}, vcc\n"
                                "v_cmp_eq_u32_e64 {6}, 0, {1}\n"
                                "v_cmp_gt_u32_e32 vcc, {7:#x}, {0}\n"
                                "s_and_b64 {6}, {6}, vcc\n"
                                "s_cbranch_scc1 {8}\n",
                                low, high, store.range.first, load.range.first, store.range.first + 1,
                                load.range.first + 1, both, *near - 1, otherwise);
    }
  }
  return test.pairs.size() <= most_pairs ? test : ApartTest{};
}

void forget_order(const recover::Program& program, analysis::DependenceGraph& graph, const std::vector<Apart>& pairs) {
  const auto instruction = [&](uint32_t node) -> const isa::Instruction& {
    return program.items[graph.items[node]].instruction;
  };
  // The second address is made before anything uses it, the first one is moved on behind everything that does.
  const auto stands = [&](const std::vector<isa::RegisterRange>& addresses, uint32_t from, uint32_t to) {
    for (uint32_t node = 0; node < to; ++node)
      for (const isa::RegisterRange& address : addresses)
        if (writes(instruction(node), address) && (node >= from || address == addresses.front())) return false;
    return true;
  };
  const auto uses = [&](uint32_t node, const std::vector<isa::RegisterRange>& addresses,
                        bool (*is)(const isa::Instruction&)) {
    const isa::Instruction& i = instruction(node);
    return i.traits.vmem && is(i) &&
           std::ranges::any_of(addresses, [&](const isa::RegisterRange& address) { return reads(i, address); });
  };
  for (uint32_t node = 0; node < graph.items.size(); ++node)
    for (const Apart& pair : pairs) {
      const auto forgotten = [&](uint32_t earlier, uint32_t later, const analysis::Dependence& d) {
        return d.kind == analysis::DependenceKind::memory && uses(earlier, pair.store, stores_only) &&
               uses(later, pair.load, loads_only) && stands(pair.store, earlier, later) &&
               stands(pair.load, earlier, later);
      };
      std::erase_if(graph.predecessors[node], [&](const auto& d) { return forgotten(d.node, node, d); });
      std::erase_if(graph.successors[node], [&](const auto& d) { return forgotten(node, d.node, d); });
    }
}

} // namespace asmevo::search::rewrite
