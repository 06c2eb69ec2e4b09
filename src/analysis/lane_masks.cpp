#include "analysis/lane_masks.h"

namespace asmevo::analysis {

LaneMasks::LaneMasks() : masks_(3) {}

MaskId LaneMasks::named(uint64_t where, MaskId parent, MaskId without) {
  const Mask mask{parent, without};
  const auto [at, fresh] = ids_.emplace(Key{where, mask}, static_cast<MaskId>(masks_.size()));
  if (fresh) masks_.push_back(mask);
  return at->second;
}

MaskId LaneMasks::made(uint32_t item, MaskId parent, MaskId without) { return named(item, parent, without); }

MaskId LaneMasks::arrived(uint32_t block, size_t unit, MaskId parent) {
  return named(uint64_t{1} << 63 | uint64_t{block} << 16 | unit, parent, all);
}

bool LaneMasks::within(MaskId inner, MaskId outer) const {
  if (inner == none) return true;
  for (; inner != outer; inner = masks_[inner].parent)
    if (inner == all) return false;
  return true;
}

MaskId LaneMasks::around(MaskId a, MaskId b) const {
  if (a == none) return b;
  while (!within(b, a)) a = masks_[a].parent;
  return a;
}

MaskId LaneMasks::join(uint32_t item, MaskId a, MaskId b) {
  if (within(a, b)) return b;
  if (within(b, a)) return a;
  // What is left of a set, and what was taken away from it.
  for (const auto& [rest, taken] : {std::pair(a, b), std::pair(b, a)})
    if (masks_[rest].without == taken && taken != all && within(taken, masks_[rest].parent)) return masks_[rest].parent;
  return made(item, around(a, b));
}

MaskId LaneMasks::intersect(uint32_t item, MaskId a, MaskId b) {
  if (within(a, b)) return a;
  if (within(b, a)) return b;
  return made(item, a);
}

MaskId LaneMasks::remove(uint32_t item, MaskId a, MaskId b) { return made(item, a, b); }

MaskId LaneMasks::exchange(uint32_t item, MaskId a, MaskId b) {
  if (within(a, b)) return remove(item, b, a);
  if (within(b, a)) return remove(item, a, b);
  return made(item, around(a, b));
}

} // namespace asmevo::analysis
