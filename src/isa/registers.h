// LLVM's registers as ranges of the hardware's files. LLVM numbers them alike for every AMDGPU processor, so the table
// is made once a process.
#pragma once

#include "isa/instruction.h"

#include <llvm/MC/MCRegisterInfo.h>

namespace asmevo::isa {

struct RegisterTable {
  /// By LLVM register number; `count` 0 where the register is none of ours (constants, null).
  std::vector<RegisterRange> ranges;
  /// The register that LLVM's register classes list in place of one that only some chips have; 0 for the operand values
  /// that fit any class.
  std::vector<uint16_t> listed;
};

const RegisterTable& register_table(const llvm::MCRegisterInfo&);

} // namespace asmevo::isa
