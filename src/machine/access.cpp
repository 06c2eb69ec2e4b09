#include "machine/access.h"

namespace asmevo::machine {

bool refill(Wave& w, RegionView& view, uint64_t address, uint32_t bytes, bool write) {
  const Region* region = w.workgroup->memory->find(address, bytes);
  if (!region || region->access == Access::guard) return false;
  if (write && region->access != Access::read_write) return false;
  view = {region->base, region->size, region->data, region->access == Access::read_write};
  return true;
}

} // namespace asmevo::machine
