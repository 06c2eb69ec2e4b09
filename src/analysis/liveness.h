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

/// Whose reads count: those of every instruction, or only of those that do something or compute what another of them
/// reads. Values that go round in a loop and nowhere else are live by the first and not by the second, which says what
/// can be removed but not which registers are free. By the second, a read also wants only lanes that are active: what
/// was written before it in its block under the same EXEC is all that it can see.
enum class Readers : uint8_t { all, wanted };

/// Computes registers and does nothing else.
bool only_computes(const isa::Instruction& instruction);

/// A vector write under a partial EXEC does not kill, since inactive lanes keep the old value: only writes where EXEC
/// is known to be full (exec.h) do, and arms of a diamond (diamonds.h) together. What a call or an unknown branch may
/// read is everything; nothing is live after s_endpgm. s_cmov lists its destination among its uses: it kills nothing.
Liveness liveness(const recover::Program& program, const recover::Function& function, const Graph& graph,
                  Readers readers = Readers::all);

} // namespace asmevo::analysis
