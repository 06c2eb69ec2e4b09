// What the cache policy bits of a vector memory instruction ask of the caches.
//
// The bits are two things in one field. Scope (sc0, sc1 of gfx942; glc before) says who must see the access: it is part
// of what the program means. Time (nt of gfx942; slc before) says that the data will not be wanted again: a hint.
// docs/timing-model.md, "Cache policy", says where each effect is documented and what is not.
#pragma once

#include "isa/instruction.h"
#include "isa/target.h"

namespace asmevo::timing {

struct CachePolicy {
  bool misses_l1 = false;  // a load that fetches anew from L2, and leaves nothing in L1
  bool streams_l1 = false; // its lines are the first that L1 gives up
  bool streams_l2 = false;
};

/// No policy for what is no vector memory instruction.
CachePolicy cache_policy(const isa::Instruction& instruction, isa::Processor processor);

} // namespace asmevo::timing
