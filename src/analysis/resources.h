// Resources and the launch contract: rules R.
//
// The dispatcher gives a wave the registers, LDS and kernel arguments that the descriptor and the metadata declare, and
// nothing more: an instruction that reaches beyond gets another wave's registers, zeros or a fault. And a kernel must
// end: control that runs past its last instruction executes whatever lies there.
#pragma once

#include "analysis/waits.h"

namespace asmevo::analysis {

/// R001-R007 and R009-R011 of one function.
std::vector<Finding> verify_resources(const recover::Program& program, const recover::Function& function,
                                      const Graph& graph);

/// R008 of one function: every instruction that a candidate may only have where the original has it.
std::vector<Finding> restricted_instructions(const recover::Program& program, const recover::Function& function);

/// Why a candidate may not bring in an instruction of that mnemonic; empty where it may.
std::string_view restriction(std::string_view mnemonic);

} // namespace asmevo::analysis
