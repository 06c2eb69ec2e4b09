// Liveness of registers before every item of a function.
#pragma once

#include "analysis/cfg.h"

#include <bitset>

namespace asmevo::analysis {

/// One bit a register: sgpr 0-127, vgpr 0-511, agpr 0-255 (agpr 0-255 of a unified file are tracked apart), scc, mode.
inline constexpr size_t register_bits = 128 + 512 + 256 + 2;
using RegisterSet = std::bitset<register_bits>;
size_t bit_of(isa::File file, uint16_t index);
RegisterSet set_of(const std::vector<isa::RegisterRange>& ranges);

struct Liveness {
  std::vector<RegisterSet> before; // by item - function.first; live before the item
  std::vector<RegisterSet> after;
};

/// A vector write under a partial EXEC does not kill, since inactive lanes keep the old value: only writes where EXEC is
/// known to be all ones for the whole program point kill.
Liveness liveness(const recover::Program& program, const recover::Function& function, const Graph& graph);

} // namespace asmevo::analysis
