// ELF-64 tables, read with the suspicion that a file from anywhere deserves.
//
// Every number in an ELF file is a claim about another place of the file. Nothing here is used before the claim is
// checked: a table must lie inside the file, a name inside its string table and end there, an index inside its table.
// The message always says which table and where.
#pragma once

#include "object/code_object.h"

namespace asmevo::object {

/// Fills elf_type, abi_version, e_flags, sections, segments, symbols and relocations of `object` from its bytes.
/// Addresses are as the file has them: for ET_REL, section addresses are 0 and symbol values are section offsets.
Result<void> read_elf(CodeObject& object);

/// Relocations that the linker was asked to leave in what it linked (--emit-relocs). They are already applied and no
/// loader reads them; `CodeObject::relocations` has none of them.
bool is_left_over(const CodeObject& object, const Section& section);

/// Gives the allocated sections of an ET_REL object addresses (read-only, code, writable, each kind on pages of its
/// own, as a linker does), moves symbols and relocations there, and resolves PC-relative relocations in
/// `object.linked`. Errors: a relocation whose type or place makes no sense.
Result<void> lay_out(CodeObject& object);

} // namespace asmevo::object
