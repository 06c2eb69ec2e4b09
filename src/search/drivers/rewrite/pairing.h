// Instructions of a block two by two: a pair is issued as one, where the second of the two stood.
#pragma once

#include "analysis/dependence.h"
#include "search/drivers/rewrite/rule.h"

#include <functional>

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

/// The stretch of a block up to what branches, with the text of each of the nodes of `order`.
std::optional<recover::Edit> in_order(const Facts& facts, const analysis::DependenceGraph& graph,
                                      const std::vector<uint32_t>& order,
                                      const std::function<std::string(uint32_t)>& text_of);

/// A modifier of packed arithmetic, ` name:[0,1]`; nothing where all bits are `usual`.
std::string selection(std::string_view name, const std::vector<bool>& bits, bool usual);

} // namespace asmevo::search::rewrite
