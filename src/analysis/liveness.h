// Liveness of registers before and after every item of a function.
#pragma once

#include "analysis/cfg.h"
#include "analysis/registers.h"

namespace asmevo::analysis {

struct Liveness {
  RegisterMap registers;           // how the bits are numbered
  std::vector<RegisterSet> before; // by item - function.first; live before the item
  std::vector<RegisterSet> after;
};

/// A vector write under a partial EXEC does not kill, since inactive lanes keep the old value: only writes where EXEC
/// is known to be full (exec.h) kill. What a call or an unknown branch may read is everything; nothing is live after
/// s_endpgm. A conditional write (s_cmov) lists its destination among its uses and so kills nothing.
Liveness liveness(const recover::Program& program, const recover::Function& function, const Graph& graph);

} // namespace asmevo::analysis
