// What a listing calls the symbols of an object.
//
// A linker lets each of its inputs have local symbols of the same name; an assembler knows one place by one name. So
// the second one and all after it get a number for as long as they are text, and their own name back in the object.
#pragma once

#include "object/code_object.h"

#include <span>
#include <string>
#include <vector>

namespace asmevo::recover {

/// By index in CodeObject::symbols: the symbol's name, or one that no other symbol has.
std::vector<std::string> symbol_names(const object::CodeObject& object);

/// Gives the symbols of a rebuilt object that the listing of `like` called otherwise their names back.
/// Errors: the rebuilt object cannot be read.
Result<Bytes> with_own_names(Bytes rebuilt, const object::CodeObject& like);

} // namespace asmevo::recover
