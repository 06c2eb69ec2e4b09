// What assembly text asks of the assembler before the assembler sees it.
#pragma once

#include "isa/codec.h"

#include <optional>
#include <string_view>

namespace asmevo::isa {

/// How much a text may say: a region of code (instructions, labels, plain data), or a whole listing.
enum class Scope : uint8_t { region, listing };

/// The first thing in `text` that may not be said in `scope`: a directive that reads files, prints or expands, text
/// that is not text, or nesting deep enough to exhaust a recursive parser.
std::optional<AssemblyError> refused(std::string_view text, Scope scope);

} // namespace asmevo::isa
