// Instructions of a block two by two: a pair is issued as one, where the second of the two stood.
#pragma once

#include "analysis/dependence.h"

#include <optional>

namespace asmevo::search::rewrite {

class Pairing {
public:
  explicit Pairing(const analysis::DependenceGraph& graph);

  /// Makes a pair of two nodes that have none, a before b; false where one would have to wait for the other.
  bool join(uint32_t a, uint32_t b);
  std::optional<uint32_t> partner(uint32_t node) const { return partner_[node]; }
  /// Nodes, of pairs the second one only, each as early as the pairs let it; all else keeps its order.
  std::vector<uint32_t> order() const;

private:
  bool reaches(uint32_t from, uint32_t to) const;

  const analysis::DependenceGraph& graph_;
  std::vector<uint32_t> issued_with_; // by node: itself, or the second of its pair
  std::vector<std::optional<uint32_t>> partner_;
};

} // namespace asmevo::search::rewrite
