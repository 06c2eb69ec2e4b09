// Resources that follow the code.
#pragma once

#include "recover/program.h"

namespace asmevo::recover {

/// Makes `after.declared` of kernel `kernel` hold what its function needs now. Where the original declared exactly what
/// its code needed, the declaration follows in both directions; where it declared more, for reasons that only its
/// author knows, it only grows. Registers that the dispatcher fills stay declared; scalar registers, LDS and scratch
/// never shrink. Errors: more registers than the target has.
Result<void> redeclare(const Program& before, const Function& old_function, Program& after,
                       const Function& new_function, int kernel);

/// The same for a whole listing that was built and recovered again: every kernel of `built` by what the function of
/// that name has become since `original`. Says whether anything had to change.
Result<bool> redeclare_all(const Program& original, Program& built);

} // namespace asmevo::recover
