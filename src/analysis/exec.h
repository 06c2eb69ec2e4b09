// Where EXEC is known to select every lane that was active when the function began.
//
// A vector write under a smaller EXEC leaves the other lanes as they were, so the old value of the register is still
// wanted. Compilers narrow EXEC in a structured way: s_and_saveexec_b64 keeps the wider mask in an SGPR pair, and the
// join writes that pair back. Following which pairs hold a full mask is enough to see through it.
#pragma once

#include "analysis/cfg.h"
#include "analysis/registers.h"

namespace asmevo::analysis {

/// By item - function.first: EXEC is full before the item. "Full" is the mask at function entry, or all ones.
std::vector<bool> full_exec(const recover::Program& program, const recover::Function& function, const Graph& graph);

} // namespace asmevo::analysis
