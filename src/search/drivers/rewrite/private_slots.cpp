#include "search/drivers/rewrite/private_slots.h"

#include "analysis/exec.h"
#include "analysis/memory.h"
#include "analysis/reaching.h"
#include "isa/fields.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/private_buffer.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

using isa::Encoding;

constexpr uint32_t most_slots = 1u << 14;
constexpr size_t most_work = 1u << 27; // slots times items
constexpr uint16_t scalars = 128;

/// A private access as far as it is understood: bytes from the beginning of the wave's memory.
struct Place {
  int64_t offset;
  uint32_t bytes;
};

std::optional<Place> place_of(size_t item, const analysis::MemoryAccess& access, const isa::Instruction& i,
                              const analysis::Reaching& reaching) {
  if (access.atomic || access.extent_count != 1) return std::nullopt;
  Place place{access.extents[0].offset, analysis::access_bytes(isa::name_of(i))};
  for (const isa::RegisterRange& base : access.base) {
    if (base.file == isa::File::sgpr && base.count == 4) continue; // the descriptor
    if (base.file != isa::File::sgpr || base.count != 1) return std::nullopt;
    const auto constant = reaching.scalar_constant(item, base.first);
    if (!constant) return std::nullopt;
    place.offset += *constant;
  }
  if (i.encoding == Encoding::mubuf) {
    const isa::fields::Mubuf buffer = isa::fields::mubuf(i.words);
    // The buffer is swizzled: neighbouring dwords of a lane do not lie side by side.
    if (buffer.offen || buffer.idxen || buffer.lds || place.bytes > 4) return std::nullopt;
    if (buffer.soffset >= scalars) {
      const auto constant = analysis::constant_operand(i, buffer.soffset);
      if (!constant) return std::nullopt;
      place.offset += *constant;
    }
  }
  if (place.bytes == 0 || place.offset < 0 || place.offset + place.bytes > int64_t{4} * most_slots) return std::nullopt;
  return place;
}

/// The data of an access of whole dwords, a register for each.
std::optional<isa::RegisterRange> data_of(const isa::Instruction& i, const InstructionText& text, uint32_t bytes) {
  const std::string_view name = isa::name_of(i);
  if (name.find("_dword") == name.npos || bytes % 4 != 0) return std::nullopt;
  for (const std::string& operand : text.operands) {
    const auto range = operand_registers(operand);
    if (!range || (range->file != isa::File::vgpr && range->file != isa::File::agpr)) continue;
    return range->count == bytes / 4 ? range : std::nullopt;
  }
  return std::nullopt;
}

bool reads_flat_scratch(const isa::Instruction& i) {
  return i.encoding != Encoding::scratch && reads(i, {isa::File::sgpr, isa::flat_scratch_lo, 2});
}

bool can_be_followed(const Facts& facts) {
  if (facts.function.kernel < 0) return false;
  if (std::ranges::any_of(facts.graph.blocks, [](const analysis::Block& b) { return b.unknown || b.returns; }))
    return false;
  for (size_t item = facts.function.first; item < facts.function.last; ++item) {
    if (!facts.is_instruction(item)) continue;
    const isa::Instruction& i = facts.instruction(item);
    if (analysis::is_call(i) || i.traits.relative || i.traits.flat || i.encoding == Encoding::unknown ||
        isa::name_of(i).starts_with("s_set_gpr_idx"))
      return false;
  }
  return true;
}

/// One slot's lifetime.
class Lifetime {
public:
  Lifetime(const Facts& facts, const std::vector<bool>& full) : facts_(facts), full_(full) {}

  /// `accesses`: those of the slot, in program order.
  Points of(const std::vector<const PrivateAccess*>& accesses) {
    const size_t blocks = facts_.graph.blocks.size();
    of_block_.assign(blocks, {});
    for (const PrivateAccess* access : accesses)
      of_block_[facts_.graph.block_of[access->item - facts_.function.first]].push_back(access);
    find_wanted();
    find_stored();
    Points points = points_of_items(facts_.function.last - facts_.function.first);
    for (uint32_t b = 0; b < blocks; ++b) mark(b, points);
    return points;
  }

private:
  bool kills(const PrivateAccess& access) const { return access.stores && full_[access.item - facts_.function.first]; }

  bool wanted_on_entry(uint32_t b) const {
    for (const PrivateAccess* access : of_block_[b]) {
      if (!access->stores) return true;
      if (kills(*access)) return false;
    }
    return wanted_behind_[b];
  }
  void find_wanted() {
    wanted_behind_.assign(of_block_.size(), false);
    std::vector<uint32_t> open;
    for (uint32_t b = 0; b < of_block_.size(); ++b)
      if (wanted_on_entry(b)) open.push_back(b);
    while (!open.empty()) {
      const uint32_t b = open.back();
      open.pop_back();
      for (const uint32_t p : facts_.graph.blocks[b].predecessors) {
        if (wanted_behind_[p]) continue;
        const bool before = wanted_on_entry(p);
        wanted_behind_[p] = true;
        if (!before && wanted_on_entry(p)) open.push_back(p);
      }
    }
  }
  bool has_store(uint32_t b) const {
    return std::ranges::any_of(of_block_[b], [](const PrivateAccess* access) { return access->stores; });
  }
  void find_stored() {
    stored_.assign(of_block_.size(), false);
    std::vector<uint32_t> open;
    const auto reach = [&](uint32_t b) {
      for (const uint32_t s : facts_.graph.blocks[b].successors)
        if (!stored_[s]) {
          stored_[s] = true;
          open.push_back(s);
        }
    };
    for (uint32_t b = 0; b < of_block_.size(); ++b)
      if (has_store(b)) reach(b);
    while (!open.empty()) {
      const uint32_t b = open.back();
      open.pop_back();
      reach(b);
    }
  }

  void mark(uint32_t b, Points& points) const {
    const analysis::Block& block = facts_.graph.blocks[b];
    const auto& accesses = of_block_[b];
    if (accesses.empty() && !(wanted_behind_[b] && stored_[b])) return;
    size_t from = block.first; // where something may have been stored
    if (!stored_[b]) {
      const auto store = std::ranges::find_if(accesses, [](const PrivateAccess* access) { return access->stores; });
      from = store == accesses.end() ? block.last : (*store)->item;
    }
    bool wanted = wanted_behind_[b];
    auto next = accesses.rbegin();
    for (size_t item = block.last; item-- > block.first;) {
      const size_t point = 2 * (item - facts_.function.first);
      if (wanted && item >= from) set_point(points, point + 1);
      if (next != accesses.rend() && (*next)->item == item) {
        if (kills(**next)) wanted = false;
        set_point(points, (*next)->stores ? point + 1 : point);
        wanted |= !(*next)->stores;
        if ((*next)->data.count > 1) {
          set_point(points, point);
          set_point(points, point + 1);
        }
        ++next;
      }
      if (wanted && item > from) set_point(points, point);
    }
    if (wanted && stored_[b]) set_point(points, 2 * (block.first - facts_.function.first));
  }

  const Facts& facts_;
  const std::vector<bool>& full_;
  std::vector<std::vector<const PrivateAccess*>> of_block_;
  std::vector<bool> wanted_behind_, stored_; // by block: at its end, on entry
};

} // namespace

std::optional<PrivateSlots> private_slots(const Facts& facts) {
  const auto is_candidate = [&](size_t item) {
    return facts.is_instruction(item) && (facts.instruction(item).encoding == Encoding::scratch ||
                                          facts.instruction(item).encoding == Encoding::mubuf);
  };
  std::vector<size_t> candidates;
  for (size_t item = facts.function.first; item < facts.function.last; ++item)
    if (is_candidate(item)) candidates.push_back(item);
  if (candidates.empty() || !can_be_followed(facts)) return std::nullopt;
  const PrivateBuffer buffer(facts);
  if (buffer.escapes()) return std::nullopt;
  std::erase_if(candidates, [&](size_t item) {
    return facts.instruction(item).encoding == Encoding::mubuf && !buffer.may_be_used_by(item);
  });
  if (candidates.empty()) return std::nullopt;
  for (size_t item = facts.function.first; item < facts.function.last; ++item)
    if (facts.is_instruction(item) && reads_flat_scratch(facts.instruction(item))) return std::nullopt;

  const analysis::Reaching reaching(facts.program, facts.function, facts.graph);
  PrivateSlots slots;
  for (const size_t item : candidates) {
    const isa::Instruction& i = facts.instruction(item);
    if (i.encoding != facts.instruction(candidates.front()).encoding) return std::nullopt; // two ways to the same place
    const auto place = place_of(item, analysis::memory_access(i), i, reaching);
    if (!place) return std::nullopt;
    const auto slot = uint32_t(place->offset / 4), end = uint32_t((place->offset + place->bytes + 3) / 4);
    if (slots.partly.size() < end) slots.partly.resize(end, false);
    const auto data = data_of(i, parse_instruction(facts.program.items[item].text), place->bytes);
    if (data && place->offset % 4 == 0 && i.traits.may_store != i.traits.may_load)
      slots.accesses.push_back({item, i.traits.may_store, slot, *data});
    else
      std::fill(slots.partly.begin() + slot, slots.partly.begin() + end, true);
  }
  if (slots.count() * (facts.function.last - facts.function.first) > most_work) return std::nullopt;
  return slots;
}

std::vector<Points> lifetimes(const Facts& facts, const PrivateSlots& slots) {
  std::vector<std::vector<const PrivateAccess*>> of_slot(slots.count());
  for (const PrivateAccess& access : slots.accesses)
    for (uint32_t k = 0; k < access.data.count; ++k) of_slot[access.slot + k].push_back(&access);
  const std::vector<bool> full = analysis::full_exec(facts.program, facts.function, facts.graph);
  Lifetime lifetime(facts, full);
  std::vector<Points> result;
  for (const auto& accesses : of_slot) result.push_back(lifetime.of(accesses));
  return result;
}

} // namespace asmevo::search::rewrite
