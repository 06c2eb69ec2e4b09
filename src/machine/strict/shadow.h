// Shadow cells: who touched a piece of memory last.
//
// Each granule of memory has three cells: the access that wrote it last, the one that read it last, and those of other
// waves that read it before that and that nothing has ordered since. A cell holds the number of an event: an
// instruction of a wave between two barriers; where the last cell needs several, the number stands for a set of them
// (readers.h), or, for LDS, they have cells of their own (lds_shadow.h). Most accesses meet cells that need no thought,
// untouched, of the same wave, or from before the last barrier, and those are handled here, all lanes at once; what is
// left is looked at one by one (memory.cpp).
//
// Granules are as large as accesses allow, and are split when a smaller one comes: what a wave reads or writes side by
// side are few large ones, lanes that go their own ways need as many as they have bytes.
#pragma once

#include "machine/places.h"
#include "machine/wave.h"

namespace asmevo::machine::strict {

inline constexpr unsigned largest_shift = 6, largest_granule = 1u << largest_shift;

struct Cells {
  uint32_t* write = nullptr;
  uint32_t *latest = nullptr, *others = nullptr; // readers; others: of global memory
};
/// Of LDS: the event's owner (a wave, or a load to LDS of a wave) in the low 5 bits, its number above; 0 is untouched.
/// The highest bit of the latest reader says that waves besides that one may have read since the last barrier.
inline constexpr uint32_t owner_bits = 5, owner_mask = (1u << owner_bits) - 1, load_to_lds_owner = 16,
                          several_readers = 1u << 31;
/// Of global memory: numbers of events; 0 is untouched. A wave takes them in blocks, so that an event of the same block
/// is one of the same wave. The highest bit of the other readers says that every writer has an unordered reader among
/// these and the latest already, so that no more need be noted.
inline constexpr uint32_t block_bits = 5, events_a_block = 1u << block_bits, enough_readers = 1u << 31;

/// Of readers: a value of the other readers that has the wave's read of the present among them already, or this.
inline constexpr uint32_t nobody = ~0u;

/// Memory from `base` on, of which [low, high) is watched here, and an access that is to be noted.
struct Noting {
  Cells cells;
  uint32_t* own_reads = nullptr; // LDS: what this wave has read last
  uint64_t base = 0, low = 0, high = 0;
  unsigned shift = 0;
  uint32_t event = 0;
  uint32_t floor = 0;   // LDS: what is below comes before everything that happens now
  uint32_t present = 0; // what the wave has noted from here on is as good as another access of the present
  uint32_t covering = nobody;
};

/// Notes an access of whole granules. False, and nothing is noted, where some cell must be looked at; for LDS that is
/// also a read of what nothing has written.
using ShadowRunner = bool (*)(const Noting&, const Places&);
/// The same for a plain load or store whose lanes lie side by side, from `first` on. `other`: they do not, or the
/// access is special in another way.
enum class Quick : uint8_t { done, look, other };
using QuickRunner = Quick (*)(const Noting&, Wave& w, const Op& op, uint32_t bytes, uint64_t& first);

struct ShadowRunners {
  ShadowRunner lds_read = nullptr, lds_write = nullptr, global_read = nullptr, global_write = nullptr;
  QuickRunner quick_lds_read = nullptr, quick_lds_write = nullptr, quick_global_read = nullptr,
              quick_global_write = nullptr;
};
const ShadowRunners& shadow_runners(); // of the chosen instruction set

} // namespace asmevo::machine::strict
