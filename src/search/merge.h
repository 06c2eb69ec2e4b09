// The wins of two branches in one version.
//
// Two versions come from a common one and each has changed something. Their listings are aligned with the ancestor's,
// which gives the places that each has changed; what the second changed is then done to the first, edit by edit. That
// fails where both have changed the same place. It can also be wrong where they have not: each uses registers that were
// free in the ancestor, and both may have chosen the same. So liveness is computed anew for the merged program: a
// register that one of them newly writes must not be live there for the other.
//
// Waits and nops are left out of all this and put in anew by the gate, which also has the last word.
#pragma once

#include "recover/recover.h"

#include <expected>

namespace asmevo::search {

/// Edits of `onto` that bring it what `other` changed since `base`; none where it has all of that. The error says why
/// they cannot be merged.
std::expected<std::vector<recover::Edit>, std::string> merge(const recover::Program& base, const recover::Program& onto,
                                                             const recover::Program& other, const std::string& kernel,
                                                             const isa::Codec& codec);

} // namespace asmevo::search
