// What every verb begins with: a code object and the codec of its target.
#pragma once

#include "isa/codec.h"
#include "object/code_object.h"

#include <memory>
#include <string>

namespace asmevo::cli {

/// A code object with what its target needs.
struct Input {
  std::shared_ptr<const object::CodeObject> object;
  isa::Codec codec;
};
/// Errors: cannot be read, no code object, a target that is not CDNA.
Result<Input> open_input(const std::string& path);
Result<Input> open_input(Bytes bytes, const std::string& path);

} // namespace asmevo::cli
