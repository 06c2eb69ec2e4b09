// How a value can be had again.
#pragma once

#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

/// One or two cheap vector instructions of a block, of which the last makes a value and the first a value that only the
/// last reads here.
class Recipe {
public:
  /// Ways to do `item` again, the shorter first; none where it is not cheap.
  static std::vector<Recipe> of(const Facts& facts, const analysis::Block& block, size_t item);

  /// What they read that none of them makes, without EXEC.
  const std::vector<isa::RegisterRange>& sources() const { return sources_; }
  size_t first() const { return items_.front(); }
  /// Lines that leave the value in `to`; empty where that is in the way of a source.
  std::string text(const Facts& facts, const isa::RegisterRange& to) const;

private:
  std::vector<size_t> items_;
  std::vector<isa::RegisterRange> sources_;
  isa::RegisterRange between_{}; // where the first leaves its result, where there are two
};

} // namespace asmevo::search::rewrite
