// One of the two functions that are compared, with what is known of it as a whole.
#pragma once

#include "analysis/addresses.h"
#include "analysis/exec.h"
#include "analysis/liveness.h"
#include "analysis/memory.h"
#include "prove/region.h"

namespace asmevo::prove {

using recover::Program;

struct Version {
  const Program& program;
  const recover::Function& function;
  analysis::Graph graph;
  analysis::Liveness liveness;
  std::vector<bool> full; // EXEC is all ones before the item, for waves that begin with all lanes
  analysis::BarrierStores stores;
  std::optional<uint16_t> kernarg; // pair that nothing writes
  bool indirect = false;           // some registers are named by M0, so any may be read
  std::unordered_map<std::string_view, size_t> labels;

  Version(const Program& p, const recover::Function& f);

  /// Why the register lists of this function say too little, if they do. Indexing that ends in the block where it
  /// begins is followed.
  std::optional<std::string> obscurity();
  /// What lanes hold that were never active can matter.
  bool looks_at_all_lanes() const { return !idle_.empty(); }
  /// Vector registers whose contents in lanes that are off are looked at from here on. Not even a lane that is never
  /// active is out of sight of a matrix instruction; only another one's result overwrites it.
  analysis::RegisterSet seen_in_idle_lanes(size_t item) const;

  /// Facts say where memory instructions go from now on, which takes longer to find out than most proofs.
  void follow_addresses(analysis::AliasPolicy policy);
  bool follows_addresses() const { return addresses_ != nullptr; }

  Facts facts(bool full_waves) const {
    return {stores, full_waves ? &full : nullptr, function.first, addresses_.get()};
  }
  analysis::RegisterSet live_at(size_t item) const {
    return item < function.last && !indirect ? liveness.before[item - function.first] : ~analysis::RegisterSet();
  }

private:
  void follow_idle_lanes();

  std::unique_ptr<const analysis::Addresses> addresses_;
  std::vector<analysis::RegisterSet> idle_; // by item - function.first; empty where no instruction looks at all lanes
};

} // namespace asmevo::prove
