// What a kernel keeps in private memory at fixed places.
//
// Where registers do not suffice, compilers put values into the wave's private memory and fetch them back. The places
// are known when every access names a constant offset: through scratch instructions without a register (or with one
// that holds a constant), or through the descriptor that the dispatcher hands over, with nothing but the wave's offset
// added once. Then nothing but these accesses can reach them, as long as the kernel neither calls, nor uses flat
// addresses, nor does anything else with the descriptor.
#pragma once

#include "search/drivers/rewrite/points.h"
#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

struct PrivateAccess {
  size_t item = 0;
  bool stores = false;
  uint32_t slot = 0;       // the first dword
  isa::RegisterRange data; // a register for each dword
};

struct PrivateSlots {
  std::vector<PrivateAccess> accesses; // of whole dwords, in program order
  std::vector<bool> partly;            // by slot: also read or written in parts, or by an access that is not listed
  uint32_t count() const { return uint32_t(partly.size()); }
};

/// Nothing where the kernel has no such memory, or something may reach it in another way.
std::optional<PrivateSlots> private_slots(const Facts& facts);

/// By slot: where it holds what a later load wants and some earlier store may have put there. Accesses of several slots
/// are taken to need all of them on both sides.
std::vector<Points> lifetimes(const Facts& facts, const PrivateSlots& slots);

} // namespace asmevo::search::rewrite
