// What the lineage keeps of a code object.
#pragma once

#include "launch/launch.h"
#include "search/lineage.h"

namespace asmevo::search {

/// A version that is this code object, with the resources that `kernel` declares and the waves of `timed` that fit on a
/// SIMD with them; its place in the tree and its speedup are for the caller to say.
Version version_of(const recover::Program& program, std::string artifact, const std::string& kernel,
                   const launch::Case& timed);

} // namespace asmevo::search
