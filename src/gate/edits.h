// What an edit may be, before its text is given to an assembler.
//
// Edits come from outside, and an assembler does more than assemble: `.incbin` reads any file, `.macro` and `.rept`
// make gigabytes of a line, `.section` and `.symver` write outside the kernel. So edits stay inside the kernel's
// function, in order, and their text is instructions, labels and plain data.
#pragma once

#include "recover/program.h"

#include <optional>
#include <span>
#include <string>

namespace asmevo::gate {

inline constexpr size_t edit_text_limit = size_t{1} << 20; // bytes, over all edits of a candidate

/// What is wrong with `edits`, with the edit's number and the line in it; nothing when they may be applied.
std::optional<std::string> fault_of_edits(const recover::Function& function, std::span<const recover::Edit> edits);

} // namespace asmevo::gate
