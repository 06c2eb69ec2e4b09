// What assembly text asks of the assembler before the assembler sees it.
#pragma once

#include "isa/codec.h"

#include <expected>
#include <string>
#include <string_view>

namespace asmevo::isa {

/// How much a text may say: a region of code (instructions, labels, plain data), or a whole listing.
enum class Scope : uint8_t { region, listing };

/// `text` with its comments blanked out (lines and columns stay), or the first thing in it that may not be said in
/// `scope`: a directive that reads files, prints or expands, text that is not text, or nesting deep enough to exhaust a
/// recursive parser.
std::expected<std::string, AssemblyError> screened(std::string_view text, Scope scope);

} // namespace asmevo::isa
