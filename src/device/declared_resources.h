// What a kernel declares to occupy, from its descriptor: what the hardware allocates, whatever the code uses.
// Source: LLVM AMDGPUUsage, "compute_pgm_rsrc1" and "compute_pgm_rsrc3" for GFX90A, GFX942.
#pragma once

#include "isa/resources.h"
#include "object/code_object.h"

namespace asmevo::device {

isa::Resources declared_resources(const object::Kernel& kernel, isa::Processor processor);

} // namespace asmevo::device
