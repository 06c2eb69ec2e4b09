// Whatever the object: recovered and judged, or an error.
#include "recover/recover.h"

#include <map>
#include <memory>

using namespace asmevo;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::map<std::string, isa::Codec> codecs;
  auto object = object::read_code_object(Bytes(data, data + size), "input");
  if (!object) return 0;
  auto target = isa::target_from_elf(object->e_flags, object->abi_version, "input");
  if (!target) return 0;
  std::string id = isa::target_id(*target);
  auto known = codecs.find(id);
  if (known == codecs.end()) {
    auto codec = isa::Codec::create(*target);
    if (!codec) return 0;
    known = codecs.emplace(id, std::move(*codec)).first;
  }
  auto program = recover::recover(std::make_shared<object::CodeObject>(std::move(*object)), known->second);
  if (program) (void)recover::round_trip(*program, known->second);
  return 0;
}
