// Which build of this program runs: what was decided by another one is not taken over.
#pragma once

#include <string>

namespace asmevo {

/// The GNU build id of the executable in hexadecimal digits; empty where the linker wrote none.
std::string build_id();

} // namespace asmevo
