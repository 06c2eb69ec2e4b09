// Modes under which vector instructions mean something else, and registers outside a wave's allocation.
#pragma once

#include "machine/op.h"

namespace asmevo::machine {

/// Sets MODE and raises or clears event::modal.
void set_mode(Wave& w, uint32_t value);

/// Executes the next instruction under GPR indexing or VSKIP.
void step_modal(Wave& w);

/// The rows that an instruction names, wherever its stages have put them.
struct NamedRows {
  RowRef source[3], destination;
};
NamedRows named_rows(const Op& op);

/// What M0 says under GPR indexing: the index, and what it applies to, bit k for source k and bit 3 for the
/// destination.
struct GprIndex {
  uint32_t index = 0, enables = 0;
};
inline GprIndex gpr_index(const Wave& w) { return {w.m0() & 0xff, w.m0() >> 12 & 15}; }

/// Executes an instruction that names vector registers beyond the wave's allocation: a source reads v0, and an
/// instruction whose destination is out of range does nothing (CDNA3 ISA manual, "Out-of-range").
void run_out_of_range(Wave& w, const Op& op);

} // namespace asmevo::machine
