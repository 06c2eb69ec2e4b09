// Guarded regions: stretches of a block that run with fewer lanes.
//
//     s_and_saveexec_b64 saved, condition; ...; s_or_b64 exec, exec, saved
//
// is what compilers make of an `if` without an `else` whose skip branch was dropped. Inside, EXEC is a part of what it
// was, and behind it is what it was: nothing else in the block may write it.
#pragma once

#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

inline constexpr int no_region = -1;

struct ExecRegion {
  size_t enter = 0, leave = 0; // items: s_and_saveexec_b64 and what restores EXEC
  int parent = no_region;      // index of the region around it
  isa::RegisterRange saved;
  std::string condition; // operand
};

class ExecRegions {
public:
  /// Nothing where EXEC is written in another way, but for `besides`: items that may do what they like to it.
  static std::optional<ExecRegions> find(const Facts& facts, const analysis::Block& block,
                                         std::span<const size_t> besides = {});

  const std::vector<ExecRegion>& all() const { return regions_; }
  /// The innermost region that an item runs in; what enters a region runs outside of it.
  int region_of(size_t item) const;
  /// Whether lanes that are active in `inner` are active in `outer` too.
  bool within(int inner, int outer) const;

private:
  std::vector<ExecRegion> regions_;
};

} // namespace asmevo::search::rewrite
