// Instructions that run under masks of their own, in any order that their dependences allow.
//
// Where each instruction knows the mask that it runs under, EXEC is no dependence any more: it is written by a move
// wherever the mask changes from one instruction to the next.
#pragma once

#include "analysis/dependence.h"
#include "search/drivers/rewrite/list_schedule.h"

#include <map>

namespace asmevo::search::rewrite {

struct MaskedItems {
  const recover::Program& program;
  std::vector<isa::RegisterRange> masks; // pairs that hold them; the first is EXEC as it comes in
  std::map<size_t, size_t> mask_of;      // by item; none where EXEC does not matter

  std::optional<size_t> mask(size_t item) const;
};

/// Every instruction behind what makes its mask.
void add_masks(analysis::DependenceGraph& graph, const MaskedItems& items);

/// A list schedule in which instructions of one mask stay together where nothing speaks against it.
std::vector<uint32_t> masked_schedule(const MaskedItems& items, const analysis::DependenceGraph& graph, Order order);

/// The items in that order with the moves to EXEC that they need; begins and ends under the first mask. `behind` gives
/// text that has to follow an item, under the first mask.
std::string masked_text(const MaskedItems& items, const analysis::DependenceGraph& graph,
                        const std::vector<uint32_t>& order, const std::function<std::string(size_t item)>& behind = {});

} // namespace asmevo::search::rewrite
