// Every instruction that a target has.
#pragma once

#include "isa/codec.h"

namespace asmevo::isa {

/// One instruction of each opcode of each encoding that LLVM decodes for the codec's target, in encoding order: a
/// mnemonic with a 32-bit and a 64-bit encoding comes twice. Operands are v0, s16 and the like. Image, export and
/// interpolation instructions are left out.
std::vector<Instruction> every_opcode(const Codec&);

} // namespace asmevo::isa
