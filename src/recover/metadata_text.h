// The metadata note as `.amdgpu_metadata` text.
#pragma once

#include "isa/codec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace asmevo::recover {

/// YAML that the assembler turns back into exactly these bytes, or nothing where no text does: numbers written wider
/// than needed, unsorted or repeated keys, strings that YAML cannot carry, documents that the assembler's verifier
/// refuses.
std::optional<std::string> metadata_text(std::span<const uint8_t> note);

/// What the assembler's YAML reader would complain about, on the standard error stream of the process, in the
/// `.amdgpu_metadata` blocks of a listing; nothing where it would not.
std::optional<isa::AssemblyError> metadata_fault(const std::string& listing);

} // namespace asmevo::recover
