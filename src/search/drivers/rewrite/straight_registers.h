// Registers for the values of straight-line code.
#pragma once

#include "search/drivers/rewrite/straight_code.h"

namespace asmevo::search::rewrite {

struct Placed {
  std::vector<std::string> lines;        // by node; empty for those that are gone
  std::vector<isa::RegisterRange> masks; // by StraightCode::masks; count 0 where nothing has run under it
};

/// Gives every value that may move registers that hold nothing where `facts` has the item `at`, for nodes in `order`.
/// As long as there are registers that were not used before, none is used twice. Nothing where there are too few.
std::optional<Placed> placed(StraightCode& code, const Facts& facts, size_t at, const std::vector<size_t>& order);

} // namespace asmevo::search::rewrite
