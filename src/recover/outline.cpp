// Putting the known bytes of an outline where the assembler has left room. Where the room is, was worked out while the
// outline was written; that it is there, and empty, is checked.
#include "object/elf_reader.h"
#include "recover/listing.h"

#include <algorithm>

namespace asmevo::recover {

Result<Bytes> fill(Bytes bytes, const Outline& outline) {
  object::CodeObject object{.path = "assembled outline", .bytes = std::move(bytes)};
  AE_CHECK(object::read_elf(object));
  for (const Outline::Filling& filling : outline.fillings) {
    const object::Section* section = object.section(filling.section);
    uint64_t size = filling.bytes.size();
    if (!section || filling.offset > section->size || size > section->size - filling.offset)
      return fail("{}: no room for {} bytes at {}+{:#x}", object.path, size, filling.section, filling.offset);
    auto room = std::span(object.bytes).subspan(section->offset + filling.offset, size);
    if (std::ranges::any_of(room, [](uint8_t byte) { return byte != 0; }))
      return fail("{}: {}+{:#x} is not the room for {} bytes", object.path, filling.section, filling.offset, size);
    std::ranges::copy(filling.bytes, room.begin());
  }
  return std::move(object.bytes);
}

} // namespace asmevo::recover
