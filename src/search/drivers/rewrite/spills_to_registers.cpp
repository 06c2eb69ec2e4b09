// Registers instead of private memory.
//
// A compiler that runs out of registers stores values to private memory and loads them back, where a register that is
// named nowhere, an accumulation register, or one that holds nothing just then would have done: it does not know how
// many waves will fit anyway, or settled for fewer registers early. Here what is stored most is kept in such registers,
// as long as that costs no wave. A store becomes a move under the same EXEC, and so does the load: each lane has in its
// register just what it had in its memory.
//
// Where one access takes several dwords, they go together or stay together. What is read before it was ever stored is
// anything, in a register as in memory.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/private_slots.h"
#include "search/drivers/rewrite/rules.h"
#include "search/drivers/rewrite/spare_registers.h"
#include "search/drivers/rewrite/traffic.h"

#include <algorithm>
#include <map>

namespace asmevo::search::rewrite {

namespace {

/// Slots that some access takes together.
struct Together {
  std::vector<uint32_t> slots;
  double traffic = 0; // of all accesses
};

std::vector<Together> grouped(const Facts& facts, const PrivateSlots& slots) {
  std::vector<uint32_t> first(slots.count()); // by slot: the lowest that goes with it
  for (uint32_t s = 0; s < first.size(); ++s) first[s] = s;
  const auto of = [&](uint32_t slot) {
    while (first[slot] != slot) slot = first[slot];
    return slot;
  };
  for (const PrivateAccess& access : slots.accesses)
    for (uint32_t k = 1; k < access.data.count; ++k) {
      const auto [low, high] = std::minmax({of(access.slot), of(access.slot + k)});
      first[high] = low;
    }
  const Traffic traffic(facts);
  std::map<uint32_t, Together> groups;
  for (const PrivateAccess& access : slots.accesses) groups[of(access.slot)].traffic += traffic.of(access.item);
  std::vector<Together> result;
  for (auto& [low, group] : groups) {
    for (uint32_t s = low; s < first.size(); ++s)
      if (of(s) == low) group.slots.push_back(s);
    if (std::ranges::none_of(group.slots, [&](uint32_t s) { return slots.partly[s]; }))
      result.push_back(std::move(group));
  }
  std::ranges::stable_sort(result, std::ranges::greater(),
                           [](const Together& g) { return g.traffic / double(g.slots.size()); });
  return result;
}

std::string move_text(const isa::RegisterRange& to, const isa::RegisterRange& from) {
  if (to == from) return "";
  const bool into = to.file == isa::File::agpr, out_of = from.file == isa::File::agpr;
  const char* mnemonic = into && out_of ? "v_accvgpr_mov_b32"
                         : into         ? "v_accvgpr_write_b32"
                         : out_of       ? "v_accvgpr_read_b32"
                                        : "v_mov_b32_e32";
  return fmt::format("{} {}, {}\n", mnemonic, register_text(to), register_text(from));
}

isa::RegisterRange part(const isa::RegisterRange& range, uint32_t k) {
  return {range.file, uint16_t(range.first + k), 1};
}

/// Gives slots to registers, those with the most traffic first.
class Homes {
public:
  Homes(const Facts& facts, const PrivateSlots& slots, SpareRegisters spare)
      : slots_(slots), lifetimes_(lifetimes(facts, slots)), spare_(std::move(spare)), home_(slots.count()) {}

  bool settle(const Together& group) {
    for (size_t k = 0; k < group.slots.size(); ++k) {
      const uint32_t slot = group.slots[k];
      if ((home_[slot] = spare_.take(lifetimes_[slot], liked(slot)))) continue;
      while (k-- > 0) {
        spare_.give_back(*home_[group.slots[k]], lifetimes_[group.slots[k]]);
        home_[group.slots[k]].reset();
      }
      return false;
    }
    return true;
  }
  const std::optional<isa::RegisterRange>& of(uint32_t slot) const { return home_[slot]; }
  const SpareRegisters& spare() const { return spare_; }

private:
  /// Registers that it is stored from or loaded to: the move is one less there.
  std::vector<isa::RegisterRange> liked(uint32_t slot) const {
    std::vector<isa::RegisterRange> registers;
    for (const PrivateAccess& access : slots_.accesses)
      if (slot >= access.slot && slot < access.slot + access.data.count)
        registers.push_back(part(access.data, slot - access.slot));
    return registers;
  }

  const PrivateSlots& slots_;
  std::vector<Points> lifetimes_;
  SpareRegisters spare_;
  std::vector<std::optional<isa::RegisterRange>> home_; // by slot
};

/// Whether the target can move between any two vector registers.
bool can_move(const Facts& facts, const PrivateSlots& slots) {
  return facts.program.target.unified_registers() ||
         std::ranges::all_of(slots.accesses, [](const PrivateAccess& a) { return a.data.file == isa::File::vgpr; });
}

} // namespace

std::vector<Idea> spills_to_registers(const Facts& facts) {
  const auto slots = private_slots(facts);
  if (!slots || !can_move(facts, *slots)) return {};
  auto spare = SpareRegisters::of(facts);
  if (!spare) return {};
  const uint32_t vgprs = spare->vgprs(), agprs = spare->agprs();
  Homes homes(facts, *slots, *std::move(spare));
  Idea idea;
  size_t settled = 0, all = 0;
  for (const Together& group : grouped(facts, *slots)) {
    all += group.slots.size();
    if (!homes.settle(group)) continue;
    settled += group.slots.size();
    idea.promise += group.traffic;
  }
  if (settled == 0) return {};
  for (const PrivateAccess& access : slots->accesses) {
    std::string moves;
    for (uint32_t k = 0; k < access.data.count && homes.of(access.slot); ++k) {
      const isa::RegisterRange &home = *homes.of(access.slot + k), data = part(access.data, k);
      moves += access.stores ? move_text(home, data) : move_text(data, home);
    }
    if (homes.of(access.slot)) idea.edits.push_back({access.item, access.item + 1, std::move(moves)});
  }
  idea.rationale = fmt::format("{} of {} dwords of private memory in registers: {} VGPRs more, {} AGPRs more", settled,
                               all, homes.spare().vgprs() - vgprs, homes.spare().agprs() - agprs);
  std::vector<Idea> ideas;
  ideas.push_back(std::move(idea));
  return ideas;
}

} // namespace asmevo::search::rewrite
