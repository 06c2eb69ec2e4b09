// The input as a metadata note, and as the note of a whole object.
#include "object/metadata.h"
#include "recover/metadata_text.h"

using namespace asmevo;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (auto object = object::read_code_object(Bytes(data, data + size), "input"); object && size > 0) {
    Bytes note = object->metadata_note; // and one more step away from what a compiler writes
    if (!note.empty()) note[data[size / 2] * 257u % note.size()] ^= data[size / 3];
    (void)object::read_metadata(note, "input");
    (void)recover::metadata_text(note);
  }
  auto note = std::span(data, size);
  (void)object::read_metadata(note, "input");
  (void)recover::metadata_text(note);
  (void)recover::metadata_fault(".amdgpu_metadata\n" + std::string(data, data + std::min<size_t>(size, 4096)) +
                                "\n.end_amdgpu_metadata\n");
  return 0;
}
