// Branches around code that does nothing when no lane is active.
#pragma once

#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

/// Whether the first of `items`, in the order in which they are laid out, is an s_cbranch_execz to a label among them
/// with only a little in between, all of it without effect where EXEC is empty.
bool skips_idle_code(const Facts& facts, std::span<const size_t> items);

/// Whether something besides instructions refers to a label: then it must stay.
bool is_anchored(const recover::Program& program, std::string_view label);

} // namespace asmevo::search::rewrite
