// Hand-written assembly as a program: assembled, linked and recovered, with the line that each instruction came from.
#pragma once

#include "cli/inputs.h"
#include "recover/recover.h"

#include <optional>
#include <string>
#include <vector>

namespace asmevo::cli {

/// What check looks at. `listing` is the text that frames are taken from: the file itself, or what recovery printed.
struct Source {
  std::shared_ptr<const object::CodeObject> object;
  recover::Program program;
  std::vector<std::string> listing; // by line
  std::vector<uint32_t> lines;      // by item, 1-based in the listing; 0 where it has none
  bool text = false;                // the file is assembly
};

/// A code object or an assembly listing, by its content. `target` says what a listing is for that has no
/// .amdgcn_target of its own. Errors: as open_input(); of a listing the place that does not assemble.
Result<Source> open_source(const std::string& path, const std::string& target);

} // namespace asmevo::cli
