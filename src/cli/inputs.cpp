#include "cli/inputs.h"

#include "object/container.h"

namespace asmevo::cli {
Result<Input> open_input(const std::string& path) {
  AE_TRY(FileBytes file, FileBytes::map(path));
  if (object::holds_code_objects(file.span()))
    return fail("{0}: holds code objects and is none: list them with `asmevo extract {0}`, take one out with "
                "`asmevo extract {0} --target gfx942 -o K.hsaco`",
                path);
  Bytes bytes(file.span().begin(), file.span().end());
  return open_input(std::move(bytes), path);
}

Result<Input> open_input(Bytes bytes, const std::string& path) {
  AE_TRY(object::CodeObject object, object::read_code_object(std::move(bytes), path));
  AE_TRY(isa::Target target, isa::target_from_elf(object.e_flags, object.abi_version, path));
  AE_TRY(isa::Codec codec, isa::Codec::create(target));
  return Input{std::make_shared<const object::CodeObject>(std::move(object)), std::move(codec)};
}

} // namespace asmevo::cli
