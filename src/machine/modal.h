// Modes under which vector instructions mean something else, and registers outside a wave's allocation.
#pragma once

#include "machine/wave.h"

namespace asmevo::machine {

/// Sets MODE and raises or clears event::modal.
void set_mode(Wave& w, uint32_t value);

/// Executes the next instruction under GPR indexing or VSKIP.
void step_modal(Wave& w);

/// Executes an instruction that names vector registers beyond the wave's allocation: a source reads v0, and an
/// instruction whose destination is out of range does nothing (CDNA3 ISA manual, "Out-of-range").
void run_out_of_range(Wave& w, const Op& op);

} // namespace asmevo::machine
