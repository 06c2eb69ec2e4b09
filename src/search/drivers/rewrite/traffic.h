// How much time an item takes, against others of its kind.
#pragma once

#include "analysis/loops.h"
#include "search/drivers/rewrite/rule.h"

#include <algorithm>

namespace asmevo::search::rewrite {

/// By the model, or by the loops around it where nothing is modelled.
class Traffic {
public:
  explicit Traffic(const Facts& facts)
      : facts_(facts), modelled_(facts.heat_of(facts.function.first, facts.function.last) > 0) {
    if (modelled_) return;
    depth_.assign(facts.graph.blocks.size(), 0);
    for (const analysis::Loop& loop : analysis::loops(facts.program, facts.function, facts.graph))
      for (const uint32_t block : loop.blocks) depth_[block] = std::max(depth_[block], loop.depth);
  }
  double of(size_t item) const {
    if (modelled_) return facts_.heat_of(item, item + 1);
    constexpr double turns = 8;
    double times = 1;
    for (uint32_t k = 0; k < depth_[facts_.graph.block_of[item - facts_.function.first]]; ++k) times *= turns;
    return times;
  }

private:
  const Facts& facts_;
  bool modelled_;
  std::vector<uint32_t> depth_; // by block
};

} // namespace asmevo::search::rewrite
