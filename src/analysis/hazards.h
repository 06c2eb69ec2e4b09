// Software-visible hazards: pairs of instructions that the hardware does not interlock and that need wait states between.
// Rules: docs/checks.md; sources CDNA3 ISA table 11 and LLVM's GCNHazardRecognizer.
#pragma once

#include "analysis/waits.h"

namespace asmevo::analysis {

std::vector<Finding> verify_hazards(const recover::Program& program, const recover::Function& function,
                                    const Graph& graph);

/// Wait states still needed before each item of [first, last), 0 where none, from what precedes on every path.
std::vector<uint8_t> needed_nops(const recover::Program& program, const recover::Function& function, const Graph& graph,
                                 size_t first, size_t last);

/// Wait states that must lie between `producer` and `consumer` when they are `0` apart; 0 where they do not conflict.
/// `target` as in isa. The core table that both functions above walk.
unsigned required_wait_states(const isa::Instruction& producer, const isa::Instruction& consumer,
                              const isa::Target& target);

} // namespace asmevo::analysis
