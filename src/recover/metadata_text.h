// The metadata note as `.amdgpu_metadata` text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace asmevo::recover {

/// YAML that the assembler turns back into exactly these bytes, or nothing where no text does: numbers written wider
/// than needed, unsorted or repeated keys, strings that YAML cannot carry, documents that the assembler's verifier
/// refuses.
std::optional<std::string> metadata_text(std::span<const uint8_t> note);

} // namespace asmevo::recover
