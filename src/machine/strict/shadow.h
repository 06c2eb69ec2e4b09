// Shadow cells: who touched a piece of memory last.
//
// Each granule of memory has three cells: the access that wrote it last, the one that read it last, and those of other
// waves that read it before that and that nothing has ordered since. A cell holds the number of an event: an
// instruction of a wave between two barriers; where the last cell needs several, the number stands for a set of them
// (readers.h). Most accesses meet cells that need no thought, untouched, of the same wave, or from before the last
// barrier, and those are handled here, all lanes at once; what is left is looked at one by one (memory.cpp).
//
// Granules are as large as accesses allow, and are split when a smaller one comes: what a wave reads or writes side by
// side are few large ones, lanes that go their own ways need as many as they have bytes.
#pragma once

#include "machine/places.h"

namespace asmevo::machine::strict {

inline constexpr unsigned largest_shift = 6, largest_granule = 1u << largest_shift;

struct Cells {
  uint32_t* write = nullptr;
  uint32_t *latest = nullptr, *others = nullptr; // readers
};
/// Of LDS: the event's owner (a wave, a load to LDS of a wave, or several waves) in the low 6 bits, its number above; 0
/// is untouched. Events below the floor come before everything that happens now.
inline constexpr uint32_t owner_bits = 6, owner_mask = (1u << owner_bits) - 1, load_to_lds_owner = 16, several = 32;
/// Of global memory: numbers of events; 0 is untouched. A wave takes them in blocks, so that an event of the same block
/// is one of the same wave. The floor is the first of its numbers that belongs to the present; an access of the present
/// is as good as another, so that those already noted are left alone. The highest bit of the other readers says that
/// every writer has an unordered reader among these and the latest already, so that no more need be noted.
inline constexpr uint32_t block_bits = 5, events_a_block = 1u << block_bits, enough_readers = 1u << 31;

/// Of readers: a value of the other readers that has the wave's read of the present among them already, or this.
inline constexpr uint32_t nobody = ~0u;

/// Notes an access of whole granules. False, and nothing is noted, where some cell must be looked at; for LDS that is
/// also a read of what nothing has written. All places lie in the memory that begins at `base`.
struct ShadowRunners {
  bool (*lds_read)(const Cells&, const Places&, unsigned shift, uint32_t event, uint32_t floor,
                   uint32_t covering) = nullptr;
  bool (*lds_write)(const Cells&, const Places&, unsigned shift, uint32_t event, uint32_t floor) = nullptr;
  bool (*global_read)(const Cells&, uint64_t base, const Places&, unsigned shift, uint32_t event, uint32_t floor,
                      uint32_t covering) = nullptr;
  bool (*global_write)(const Cells&, uint64_t base, const Places&, unsigned shift, uint32_t event,
                       uint32_t floor) = nullptr;
};
const ShadowRunners& shadow_runners(); // of the chosen instruction set

} // namespace asmevo::machine::strict
