// Programs with a kernel around them: a descriptor and metadata that say what registers hold when it begins.
#pragma once

#include "assemble.h"

namespace asmevo::analysis {

/// `text` as the kernel "f": kernarg address in s[0:1], workgroup ids in s2, s3 and s4, work-item ids in v0 (packed
/// from gfx90a on, else x, y, z in v0 to v2; `last_axis` is the last one that it asks for). Arguments: pointers at 0
/// and 8, dwords at 16 and 20, a pointer at 24.
inline recover::Program kernel_program(const std::string& text,
                                       std::optional<std::array<uint32_t, 3>> workgroup_size = std::nullopt,
                                       isa::Processor processor = isa::Processor::gfx942, uint32_t last_axis = 2) {
  recover::Program program = assemble(text, processor);
  object::Kernel kernel;
  kernel.name = "f";
  const auto put = [&](size_t at, uint32_t value) {
    for (size_t k = 0; k < 4; ++k) kernel.descriptor.raw[at + k] = uint8_t(value >> 8 * k);
  };
  put(52, 2 << 1 | 7 << 7 | last_axis << 11); // two user SGPRs, workgroup ids x, y, z and work-item ids
  put(56, 1 << 3);                            // kernarg pointer
  object::KernelMetadata metadata{.name = "f", .symbol = "f.kd", .kernarg_segment_size = 32};
  metadata.max_flat_workgroup_size = 256;
  metadata.reqd_workgroup_size = workgroup_size;
  const auto argument = [&](const char* name, const char* kind, uint32_t offset, uint32_t size) {
    object::KernelArgument a;
    a.name = name, a.value_kind = kind, a.offset = offset, a.size = size;
    metadata.args.push_back(a);
  };
  argument("x", "global_buffer", 0, 8);
  argument("y", "global_buffer", 8, 8);
  argument("n", "by_value", 16, 4);
  argument("m", "by_value", 20, 4);
  argument("z", "global_buffer", 24, 8);
  kernel.metadata = metadata;
  auto object = std::make_shared<object::CodeObject>();
  object->kernels.push_back(std::move(kernel));
  program.origin = std::move(object);
  return program;
}

} // namespace asmevo::analysis
