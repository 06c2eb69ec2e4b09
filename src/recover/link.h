// LLD as a function: a relocatable object in, a shared object out.
#pragma once

#include "support/file.h"
#include "support/result.h"

#include <span>

namespace asmevo::recover {

/// Links one relocatable object as the HIP compiler does. Nothing is printed; what the linker says is in the error.
Result<Bytes> link_shared(std::span<const uint8_t> relocatable);

} // namespace asmevo::recover
