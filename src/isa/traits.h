// What an instruction is, from its encoding and mnemonic. Knows nothing of LLVM: the table of loads and stores that
// LLVM keeps comes in as two flags.
#pragma once

#include "isa/instruction.h"

namespace asmevo::isa {

/// The traits that every instruction of one LLVM opcode shares.
Traits traits_of(Encoding, std::string_view mnemonic, bool may_load, bool may_store);

/// Whether M0 is really read by an LDS or memory instruction. LLVM's tables list it for every DS instruction, because
/// older chips clamped LDS addresses with it; GFX9 reads it only where the ISA says so.
bool memory_reads_m0(Encoding, std::string_view mnemonic);

/// A vector instruction that writes only 16 of the 32 bits of its destination and keeps the others (GFX9 clears the
/// upper half after most 16-bit instructions; these are the exceptions).
bool keeps_other_half(std::string_view mnemonic);

/// A vector instruction that adds to its destination, whatever its modifiers.
bool accumulates(std::string_view mnemonic);

/// A scalar instruction that writes its destination only under a condition, or one bit of it.
bool keeps_scalar_destination(std::string_view mnemonic);

} // namespace asmevo::isa
