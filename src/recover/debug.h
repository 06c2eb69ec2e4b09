// Debug information of a rebuilt object.
//
// DWARF speaks of code by address: line tables, ranges and locations are true for one layout and no other. A rebuild of
// unedited code usually has the layout of the original, and then all of it is true again, byte for byte. As soon as
// anything has moved, nothing of it is, and wrong line tables are worse than none.
#pragma once

#include "object/code_object.h"

namespace asmevo::recover {

struct DebugKept {
  Bytes bytes;
  std::string dropped; // why there is none any more; empty where it is there or never was
};

/// `rebuilt` with the sections .debug_* of `like`, where code and data lie where they lay and the code is the same.
/// Errors: the rebuilt object cannot be read.
Result<DebugKept> keep_debug(Bytes rebuilt, const object::CodeObject& like);

bool is_debug(const object::Section& section);

} // namespace asmevo::recover
