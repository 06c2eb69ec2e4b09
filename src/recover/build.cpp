// From a listing back to an object.
//
// The assembler and the linker are LLVM's own. Two fields of the ELF header belong to the original and not to the text:
// e_flags and the ABI version pin the target as the loader compares it, and a replacement must carry exactly those.
#include "object/elf.h"
#include "recover/link.h"
#include "recover/listing.h"
#include "recover/metadata_text.h"
#include "recover/recover.h"
#include "recover/symbol_names.h"

#include <cstring>

namespace asmevo::recover {

namespace {

std::unexpected<isa::AssemblyError> without_place(std::string message) {
  return std::unexpected(isa::AssemblyError{1, 1, std::move(message)});
}

// From the assembled object to one like the original.
std::expected<Bytes, isa::AssemblyError> finish(Bytes bytes, const object::CodeObject& like) {
  if (like.elf_type == object::elf::et_dyn) {
    auto linked = link_shared(bytes);
    if (!linked) return without_place(linked.error().message);
    bytes = std::move(*linked);
  }
  auto named = with_own_names(std::move(bytes), like);
  if (!named) return without_place(named.error().message);
  bytes = std::move(*named);
  if (bytes.size() < 64) return without_place("the assembler wrote no object");
  bytes[8] = like.abi_version;
  std::memcpy(bytes.data() + 48, &like.e_flags, 4);
  return bytes;
}

} // namespace

std::expected<Bytes, isa::AssemblyError> build(const std::string& listing, const object::CodeObject& like,
                                               const isa::Codec& codec) {
  if (auto fault = metadata_fault(listing)) return std::unexpected(std::move(*fault));
  auto bytes = codec.assemble_object(listing);
  if (!bytes) return bytes;
  return finish(std::move(*bytes), like);
}

std::expected<Bytes, isa::AssemblyError> build(const Program& program, const isa::Codec& codec) {
  Outline outline = print_outline(program);
  auto bytes = codec.assemble_object(outline.text);
  if (!bytes) return bytes;
  auto filled = fill(std::move(*bytes), outline);
  if (!filled) return without_place(filled.error().message);
  return finish(std::move(*filled), *program.origin);
}

} // namespace asmevo::recover
