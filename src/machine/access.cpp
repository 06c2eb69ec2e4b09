#include "machine/access.h"

#include "machine/access_log.h"

namespace asmevo::machine {

bool refill(Wave& w, RegionView& view, uint64_t address, uint32_t bytes, bool write) {
  Workgroup& group = *w.workgroup;
  const Region* region = group.memory->find(address, bytes);
  if (!region || region->access == Access::guard) return false;
  if (write && region->access != Access::read_write) return false;
  const bool own = region->data <= group.scratch && group.scratch < region->data + region->size;
  // While accesses are logged, a view that was filled for reading lets no write pass unseen.
  const bool logged = group.log && !own && group.log->enter(*region, write);
  const bool writable = region->access == Access::read_write && (write || !group.log || own);
  view = {region->base, region->size, region->data, writable, logged};
  return true;
}

void note_access(Wave& w, uint64_t address, uint32_t bytes, bool write) {
  w.workgroup->log->note(address, bytes, write);
}

void note_lanes(Wave& w, const RegionView& view, uint8_t* const at[lanes], uint64_t mask, uint32_t bytes, bool write) {
  for (; mask; mask &= mask - 1) {
    const uint8_t* place = at[__builtin_ctzll(mask)];
    w.workgroup->log->note(view.base + uint64_t(place - view.data), bytes, write);
  }
}

} // namespace asmevo::machine
