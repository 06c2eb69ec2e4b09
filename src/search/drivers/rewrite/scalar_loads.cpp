// Loads of one address by the scalar unit.
//
// A vector load whose address is the same in all lanes asks 64 times for one place. Compilers use a scalar load where
// they can show that nothing writes there, and code generators that think in vectors do not ask. The scalar load takes
// its place; the value is moved to the vector register where it is wanted.
//
// What a scalar load must not change:
//  - no memory is read that was not: the lanes that were active when the kernel began are, so there is one;
//  - it has a cache of its own that sees no store of the kernel: on no path may one come before, nor anything by which
//    other waves say that theirs have been made (atomics, coherent accesses, cache control);
//  - it drops the low two bits of the address: that must be the kernarg segment, or a buffer among the arguments, by a
//    multiple of 4. Buffers of words are taken to begin at one.
#include "analysis/addresses.h"
#include "analysis/exec.h"
#include "search/drivers/rewrite/arrival.h"
#include "search/drivers/rewrite/known_values.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"
#include "search/drivers/rewrite/scalar_registers.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace asmevo::search::rewrite {

namespace {

struct Width {
  std::string_view vector, scalar;
  uint16_t dwords;
};
constexpr Width widths[] = {{"global_load_dword", "s_load_dword", 1},
                            {"global_load_dwordx2", "s_load_dwordx2", 2},
                            {"global_load_dwordx4", "s_load_dwordx4", 4}};
constexpr int64_t offset_limit = 1 << 20;

struct Load {
  size_t item;
  const Width* width;
  isa::RegisterRange data, address;
  std::string base; // saddr; empty where the address is in vector registers alone
  int64_t offset;
};

/// " offset:N" or nothing; no cache policy.
std::optional<int64_t> only_offset(std::string_view modifiers) {
  if (modifiers.empty()) return 0;
  constexpr std::string_view prefix = " offset:";
  if (!modifiers.starts_with(prefix)) return std::nullopt;
  modifiers.remove_prefix(prefix.size());
  int64_t value = 0;
  const auto [end, error] = std::from_chars(modifiers.data(), modifiers.data() + modifiers.size(), value);
  const bool whole = error == std::errc() && end == modifiers.data() + modifiers.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

std::optional<Load> load_at(const Facts& facts, size_t item) {
  if (!facts.is_instruction(item) || facts.program.items[item].raw) return std::nullopt;
  const auto width = std::ranges::find(widths, isa::name_of(facts.instruction(item)), &Width::vector);
  if (width == std::end(widths)) return std::nullopt;
  const InstructionText text = parse_instruction(facts.program.items[item].text);
  if (text.operands.size() != 3) return std::nullopt;
  const auto offset = only_offset(text.modifiers);
  const auto data = operand_registers(text.operands[0]), address = operand_registers(text.operands[1]);
  if (!offset || !data || !address || data->file != isa::File::vgpr || address->file != isa::File::vgpr)
    return std::nullopt;
  const bool by_base = text.operands[2] != "off";
  return Load{item, width, *data, *address, by_base ? text.operands[2] : "", *offset};
}

/// Whether the kernel's own stores, or those of other waves, may be meant to be seen from here on.
bool makes_stores_visible(const isa::Instruction& i) {
  if (analysis::is_call(i)) return true;
  const analysis::MemoryAccess access = analysis::memory_access(i);
  if (access.space == analysis::Space::control) return i.traits.vmem || i.traits.smem || i.traits.may_store;
  if (access.space == analysis::Space::none || access.space == analysis::Space::lds) return false;
  return access.stores || access.atomic || access.coherent || i.traits.may_store;
}

/// By item - function.first: on every path to it, no store is visible that was not when the kernel began.
std::vector<bool> pristine_memory(const Facts& facts) {
  const size_t count = facts.graph.blocks.size();
  std::vector<bool> stored(count, false); // on entry
  const auto stored_behind = [&](uint32_t b) {
    const analysis::Block& block = facts.graph.blocks[b];
    for (size_t item = block.first; item < block.last; ++item)
      if (facts.is_instruction(item) && makes_stores_visible(facts.instruction(item))) return true;
    return bool(stored[b]);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < count; ++b) {
      if (!stored_behind(b)) continue;
      for (const uint32_t successor : facts.graph.blocks[b].successors) {
        changed |= !stored[successor];
        stored[successor] = true;
      }
    }
  }
  std::vector<bool> pristine(facts.function.last - facts.function.first, false);
  for (uint32_t b = 0; b < count; ++b) {
    bool seen = stored[b];
    for (size_t item = facts.graph.blocks[b].first; item < facts.graph.blocks[b].last; ++item) {
      pristine[item - facts.function.first] = !seen;
      seen |= facts.is_instruction(item) && makes_stores_visible(facts.instruction(item));
    }
  }
  return pristine;
}

bool is_one_aligned_place(const analysis::Addresses& addresses, size_t item) {
  const analysis::Address* address = addresses.at(item);
  if (!address || !addresses.is_uniform(*address) || addresses.alignment(*address, false) < 4) return false;
  return address->base == analysis::BaseKind::kernarg_segment ||
         (address->base == analysis::BaseKind::kernarg_pointer && address->is_argument);
}

class Scalarising {
public:
  explicit Scalarising(const Facts& facts) : facts_(facts) {}

  bool take(const analysis::Block& block, const Load& load) {
    const auto value = fresh(load.width->dwords);
    if (!value) return false;
    std::string text;
    if (load.base.empty()) {
      const auto address = fresh(2);
      if (!address || load.address.count != 2) return false;
      for (uint16_t half = 0; half < 2; ++half)
        text += fmt::format("v_readfirstlane_b32 s{}, v{}\n", address->first + half, load.address.first + half);
      text += load_text(load, *value, register_text(*address), load.offset);
    } else {
      const auto constant = known_constant(facts_, block, load.item, register_text(load.address));
      if (!constant || *constant % 4 != 0 || load.offset + *constant >= offset_limit) return false;
      text = load_text(load, *value, load.base, load.offset + *constant);
    }
    instead_[load.item] = text;
    std::string& moves = before_[arrival(facts_, block, load.item, load.data)];
    for (uint16_t d = 0; d < load.width->dwords; ++d)
      moves += fmt::format("v_mov_b32 v{}, s{}\n", load.data.first + d, value->first + d);
    return true;
  }

  std::vector<recover::Edit> edits() const {
    std::map<size_t, recover::Edit> edits;
    for (const auto& [item, text] : before_) edits[item] = {item, item, text};
    for (const auto& [item, text] : instead_) {
      recover::Edit& edit = edits.try_emplace(item, recover::Edit{item, item, ""}).first->second;
      edit.last = item + 1;
      edit.text += text;
    }
    std::vector<recover::Edit> sorted;
    for (const auto& [item, edit] : edits) sorted.push_back(edit);
    return sorted;
  }

private:
  static std::string load_text(const Load& load, const isa::RegisterRange& to, const std::string& base,
                               int64_t offset) {
    return fmt::format("{} {}, {}, {:#x}\n", load.width->scalar, register_text(to), base, offset);
  }

  std::optional<isa::RegisterRange> fresh(uint16_t width) {
    for (const isa::RegisterRange& range : unused_sgprs(facts_, 128, width)) {
      if (std::ranges::any_of(taken_, [&](const auto& taken) { return taken.overlaps(range); })) continue;
      taken_.push_back(range);
      return range;
    }
    return std::nullopt;
  }

  const Facts& facts_;
  std::vector<isa::RegisterRange> taken_;
  std::map<size_t, std::string> before_, instead_; // by item
};

} // namespace

std::vector<Idea> scalar_loads(const Facts& facts) {
  if (facts.function.kernel < 0) return {};
  const std::vector<bool> full = analysis::full_exec(facts.program, facts.function, facts.graph);
  const std::vector<bool> pristine = pristine_memory(facts);
  std::optional<analysis::Addresses> addresses; // asked for when there is something to ask
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks) {
    Scalarising scalarising(facts);
    size_t count = 0;
    for (size_t item = block.first; item < block.last; ++item) {
      const auto load = load_at(facts, item);
      if (!load || !full[item - facts.function.first] || !pristine[item - facts.function.first]) continue;
      if (!addresses) addresses.emplace(facts.program, facts.function, facts.graph);
      if (is_one_aligned_place(*addresses, item)) count += scalarising.take(block, *load);
    }
    if (count == 0) continue;
    ideas.push_back({.edits = scalarising.edits(),
                     .rationale = fmt::format("{} loads of one address each by the scalar unit", count),
                     .promise = facts.heat_of(block.first, block.last)});
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
