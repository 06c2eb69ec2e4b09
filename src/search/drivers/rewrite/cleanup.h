// What is left to do after any rule: copies that can be read through, and work that became dead.
#pragma once

#include "recover/program.h"

#include <set>

namespace asmevo::search::rewrite {

/// Original addresses of the items that an idea may change besides those it inserted.
using Touched = std::set<int64_t>;

/// Propagates register copies and removes dead instructions in the blocks of `function` (an index into
/// Program::functions) that hold an inserted item or one of `touched`, until nothing changes.
std::expected<recover::Program, isa::AssemblyError> clean_up(recover::Program program, size_t function,
                                                             const Touched& touched, const isa::Codec& codec);

/// The blocks that clean_up works on.
bool is_touched(const recover::Program& program, size_t first, size_t last, const Touched& touched);

} // namespace asmevo::search::rewrite
