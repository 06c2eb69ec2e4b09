// LLVM's registers as ranges of the hardware's files. Built once a Codec.
#pragma once

#include "isa/instruction.h"

#include <llvm/MC/MCRegisterInfo.h>

namespace asmevo::isa {

/// Indexed by LLVM register number; `count` 0 where the register is none of ours (constants, null).
std::vector<RegisterRange> register_ranges(const llvm::MCRegisterInfo&);

} // namespace asmevo::isa
