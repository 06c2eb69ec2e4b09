// Types in mnemonics, and the registers of a store.
#pragma once

#include "isa/instruction.h"
#include "launch/dtype.h"

#include <optional>
#include <vector>

namespace asmevo::launch {

/// The types in a mnemonic, in order: {f32, f16} for v_cvt_f32_f16. Shapes such as 32x32x8 are no types.
std::vector<DType> types_in(std::string_view mnemonic);

/// Whether an instruction with the value of a 16-bit load widens bf16: f32 is bf16 with sixteen zeros behind it.
bool widens_bf16(const isa::Instruction& i);

/// Explicit sources of a memory instruction: those that make the address, and the data that is stored.
struct MemorySources {
  std::vector<isa::RegisterRange> address, data;
};
MemorySources memory_sources(const isa::Instruction& i);

} // namespace asmevo::launch
