// The metadata note: msgpack document `amdhsa.kernels`, versions 1.0 to 1.2.
// Source: LLVM AMDGPUUsage, "Code Object V3 Metadata" and later.
#pragma once

#include "object/code_object.h"
#include "object/msgpack.h"

namespace asmevo::object {

/// Finds the metadata note among the note sections (or segments, where sections have none) and stores it in
/// object.metadata_note. An object without one keeps it empty.
/// Errors: a note that does not lie inside its section; metadata of code object v2.
Result<void> find_metadata_note(CodeObject& object);

struct Metadata {
  std::string target;
  std::vector<KernelMetadata> kernels;
};

/// Reads the document. Keys that are not known are left alone, values of a wrong type are errors.
Result<Metadata> read_metadata(std::span<const uint8_t> note, const std::string& path);

/// The note with `.vgpr_count`, `.agpr_count` and `.sgpr_count` of kernel `symbol` ("<name>.kd") replaced where it has
/// them; every other byte stays as it is. An absent count stays absent.
struct RegisterCounts {
  std::string symbol;
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
};
Result<Bytes> replace_register_counts(std::span<const uint8_t> note, std::span<const RegisterCounts> kernels,
                                      const std::string& path);

} // namespace asmevo::object
