// Which items of two programs correspond: the labels where proofs begin and end.
#pragma once

#include "prove/prove.h"

#include <unordered_map>

namespace asmevo::prove {

/// Labels of two functions in pairs, and the regions between them. Any pairing is a correct one: what it says is only
/// where the two are claimed to agree, and that is then proved.
struct Correspondence {
  std::vector<Region> regions;
  /// By the name of a paired label in either program: its number. Labels outside the function keep their names.
  std::unordered_map<std::string, uint32_t> number[2];
};

/// Ways to pair the labels, the likeliest first: by order, by name.
std::vector<Correspondence> correspondences(const recover::Program& original, const recover::Function& f,
                                            const recover::Program& candidate, const recover::Function& g);

/// Whether the items of a region are the same in both.
bool same_items(const recover::Program& original, const recover::Program& candidate, const Region& region,
                const Correspondence& correspondence);

/// What is left of a region without the items that both versions begin and end with.
Region differing_part(const recover::Program& original, const recover::Program& candidate, const Region& region,
                      const Correspondence& correspondence);

} // namespace asmevo::prove
