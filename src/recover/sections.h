// What becomes of each section of an object on its way through a listing.
#pragma once

#include "object/code_object.h"

namespace asmevo::recover {

enum class Role : uint8_t {
  content, // written out, byte for byte
  rebuilt, // the assembler or the linker makes it again (symbol tables, hashes, dynamic section, the metadata's notes)
  comment, // .comment: rebuilt with the linker's own line added
  dropped, // debug information: it names addresses of one layout only (debug.h)
};

Role role(const object::CodeObject& object, const object::Section& section);

/// `.section name,"flags",@type[,entsize][,group[,comdat]][,unique,number]`. What a linker has merged must not be
/// merged again, nor does it know groups: only in relocatable objects either is said.
std::string section_directive(const object::CodeObject& object, const object::Section& section);

/// The section of `other` that corresponds to `section` of `object`: as manieth of the same name and group; null where
/// there is none.
const object::Section* counterpart(const object::CodeObject& object, const object::Section& section,
                                   const object::CodeObject& other);

/// Symbols that every linker adds for itself (_DYNAMIC and its like), null and section symbols.
bool is_linker_symbol(const object::Symbol& symbol);

} // namespace asmevo::recover
