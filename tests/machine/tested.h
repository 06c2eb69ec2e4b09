// Which instructions the tests of this program have compared with a model. What is missing is noticed when all have
// run: see every_instruction_is_tested.cpp.
//
// An instruction counts by its row of the registry, so one name with two meanings (conversions to fp8 of gfx942 and of
// gfx950) counts twice. A test notes an instruction where it compares the results with what an independent model says.
#pragma once

#include "machine/registry.h"

#include <set>

namespace asmevo::machine {

inline std::set<const InstructionRow*>& tested_rows() {
  static std::set<const InstructionRow*> rows;
  return rows;
}
inline void note_tested(std::string_view mnemonic, isa::Processor processor) {
  if (const InstructionRow* row = find_row(mnemonic, processor)) tested_rows().insert(row);
}

} // namespace asmevo::machine
