// What private memory keeps though it is quickly computed again.
//
// A compiler that stores a value to private memory may not see that an addition of registers that still hold what they
// held would give it back: a load takes hundreds of cycles, an addition four. Where a place is stored to once, and what
// made the value is one or two cheap instructions whose sources nothing has written on any way from there to the
// loads, the loads become these instructions. They run under the EXEC of the load: lanes that were switched off when
// the value was stored had nothing there that anyone could want.
#include "analysis/exec.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/private_slots.h"
#include "search/drivers/rewrite/recipe.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

/// Whether nothing writes a source on the way from the recipe to the place where the slot is last wanted.
bool keeps_sources(const Facts& facts, const Recipe& recipe, size_t store, const Points& lifetime) {
  const auto written = [&](size_t item) {
    return facts.is_instruction(item) && std::ranges::any_of(recipe.sources(), [&](const isa::RegisterRange& source) {
             return writes(facts.instruction(item), source);
           });
  };
  for (size_t item = recipe.first(); item < store; ++item)
    if (written(item)) return false;
  for (size_t item = facts.function.first; item < facts.function.last; ++item) {
    const size_t point = 2 * (item - facts.function.first);
    const bool before = lifetime[point / 64] >> (point % 64) & 1, after = lifetime[point / 64] >> (point % 64 + 1) & 1;
    if (before && after && written(item)) return false;
  }
  return true;
}

/// The edits that replace the loads of a slot.
std::vector<recover::Edit> computed(const Facts& facts, const std::vector<const PrivateAccess*>& accesses,
                                    const Points& lifetime) {
  const auto is_store = [](const PrivateAccess* access) { return access->stores; };
  if (std::ranges::count_if(accesses, is_store) != 1 || accesses.size() < 2) return {};
  if (std::ranges::any_of(accesses, [](const auto* a) { return a->data.count > 1 || a->data.file != isa::File::vgpr; }))
    return {};
  const PrivateAccess& store = **std::ranges::find_if(accesses, is_store);
  const analysis::Block& block = facts.graph.blocks[facts.graph.block_of[store.item - facts.function.first]];
  const auto made = definition_of(facts, block, store.item, store.data);
  if (!made || written_between(facts, exec, *made, store.item)) return {};
  for (const Recipe& recipe : Recipe::of(facts, block, *made)) {
    if (!keeps_sources(facts, recipe, store.item, lifetime)) continue;
    std::vector<recover::Edit> edits;
    for (const PrivateAccess* access : accesses) {
      if (access->stores) {
        edits.push_back({access->item, access->item + 1, ""});
        continue;
      }
      std::string text = recipe.text(facts, access->data);
      if (!text.empty()) edits.push_back({access->item, access->item + 1, std::move(text)});
    }
    if (edits.size() == accesses.size()) return edits;
  }
  return {};
}

} // namespace

std::vector<Idea> recompute_reloads(const Facts& facts) {
  const auto slots = private_slots(facts);
  if (!slots) return {};
  const std::vector<Points> held = lifetimes(facts, *slots);
  std::vector<std::vector<const PrivateAccess*>> of_slot(slots->count());
  for (const PrivateAccess& access : slots->accesses)
    for (uint32_t k = 0; k < access.data.count; ++k) of_slot[access.slot + k].push_back(&access);
  Idea idea;
  size_t places = 0;
  for (uint32_t slot = 0; slot < slots->count(); ++slot) {
    if (slots->partly[slot]) continue;
    auto edits = computed(facts, of_slot[slot], held[slot]);
    if (edits.empty()) continue;
    ++places;
    for (recover::Edit& edit : edits) {
      idea.promise += facts.heat_of(edit.first, edit.last);
      idea.edits.push_back(std::move(edit));
    }
  }
  if (places == 0) return {};
  std::ranges::sort(idea.edits, {}, &recover::Edit::first);
  idea.rationale = fmt::format("{} values computed again instead of loaded from private memory", places);
  std::vector<Idea> ideas;
  ideas.push_back(std::move(idea));
  return ideas;
}

} // namespace asmevo::search::rewrite
