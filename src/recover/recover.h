// CodeObject -> Program -> listing -> CodeObject, and the gate that says the trip loses nothing.
#pragma once

#include "recover/program.h"

namespace asmevo::recover {

/// Errors: an address that branches into the middle of an instruction or out of the section, by address and bytes.
Result<Program> recover(std::shared_ptr<const object::CodeObject> object, const isa::Codec& codec);

/// The listing that `llvm-mc` accepts as it is, with the original address of every instruction as a comment when
/// `addresses` is set. Begins with .amdgcn_target, ends with the metadata.
std::string print_listing(const Program& program, bool addresses = true);

/// Applies edits (sorted, not overlapping) of one kernel. Replacement text is assembled here so that the new items
/// carry decoded instructions; resource fields (`declared`) are recomputed from the instructions and grow or shrink
/// with them. Errors: text that does not assemble, as "line:column: message" relative to the edit's text.
std::expected<Program, isa::AssemblyError> apply(const Program& program, std::span<const Edit> edits,
                                                 const isa::Codec& codec);

/// Items [first, last) as the text of an Edit: what replacing them by it would leave as it is.
std::string print_items(const Program& program, size_t first, size_t last);

/// Changes K0's bytes where they are instead of building anew, for when a rebuild is not to be had: nothing moves, no
/// resource changes, and everything outside the edit stays byte for byte. Shorter text is padded with s_nop.
/// Errors: text longer than what it replaces; more registers than declared; a window that holds data, padding or
/// references to other sections; bytes of the object that are not what was decoded.
std::expected<Bytes, isa::AssemblyError> patch_in_place(const Program& program, const Edit& edit,
                                                        const isa::Codec& codec);

/// Resources that the instructions of `function` need. Counts the highest register any instruction names.
Result<isa::Resources> scan_resources(const Program& program, const Function& function);

/// Assembles and links a listing. LDS, scratch and everything the listing does not say come from `like`.
std::expected<Bytes, isa::AssemblyError> build(const std::string& listing, const object::CodeObject& like,
                                               const isa::Codec& codec);

/// Builds a program without the detour over text: the same bytes as build(print_listing(program), ...), faster.
std::expected<Bytes, isa::AssemblyError> build(const Program& program, const isa::Codec& codec);

/// What must be equal between K0 and a replacement: symbols, kernarg layout, launch semantics, e_flags, metadata other
/// than recomputed resource counts. Returns the first difference, in words, or nothing.
std::optional<std::string> abi_difference(const object::CodeObject& original, const object::CodeObject& candidate);

/// The round-trip gate. `differences` is empty when the unedited rebuild is K0 up to `masked` (names of
/// linker-determined fields that were not compared); `repairs` counts instructions kept as raw words.
struct RoundTrip {
  std::vector<std::string> differences;
  std::vector<std::string> masked;
  size_t instructions = 0, data_words = 0, repairs = 0;
  Bytes rebuilt;
};
Result<RoundTrip> round_trip(const Program& program, const isa::Codec& codec);

} // namespace asmevo::recover
