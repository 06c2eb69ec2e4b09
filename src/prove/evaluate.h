// Terms as numbers: what they are in all 64 lanes of one wave.
//
// Symbols get values from a seed, and so do uninterpreted functions: a hash of their arguments, of all lanes where they
// speak of the whole wave. That is one possible world. Where two terms differ in it they are not equal, and no solver
// need be asked; it also says in which state to look for a counterexample.
#pragma once

#include "prove/term.h"

#include <array>
#include <map>

namespace asmevo::prove {

class World {
public:
  World(const Terms& terms, Id lane, uint64_t seed) : terms_(terms), lane_(lane), seed_(seed) {}

  /// Makes `symbol` what the caller says: one value, or one a lane.
  void set(Id symbol, std::vector<uint64_t> values);
  /// Values by lane; the first one alone where the term is uniform.
  const std::vector<uint64_t>& values(Id id);
  uint64_t value(Id id, unsigned lane) {
    const std::vector<uint64_t>& all = values(id);
    return all.size() == 1 ? all[0] : all[lane];
  }
  /// A lane in which `condition` holds and the two differ; -1 where there is none.
  int difference(Id a, Id b, Id condition);

private:
  uint64_t leaf(Id id, unsigned lane) const;
  uint64_t computed(Id id, unsigned lane);
  void add_up(Id id, std::vector<uint64_t>& sums) const;
  uint64_t digest(Id id, unsigned lane);

  const Terms& terms_;
  Id lane_;
  uint64_t seed_;
  std::vector<std::vector<uint64_t>> known_;
};

} // namespace asmevo::prove
