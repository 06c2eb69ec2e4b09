// One region of two versions: executed on terms, from one unknown state, and compared where it leaves.
//
// The state is one as far as the versions read it. Which registers those are depends on the waves that are spoken of.
// In lanes that are active when the kernel begins, liveness says it. Lanes that never are active keep what their
// registers held before the kernel, and only instructions that look at all lanes see that: for waves of any number of
// lanes, the registers that such instructions read must be the same too.
#pragma once

#include "prove/equality.h"
#include "prove/replay.h"
#include "prove/version.h"

namespace asmevo::prove {

/// What is taken for granted of the waves.
struct Waves {
  bool any_lanes = true;  // registers of lanes that never are active are looked at, too
  bool full_exec = false; // EXEC is all ones where it is the mask that the wave began with
};

class Comparison {
public:
  Comparison(const Version& original, const Version& candidate, const Correspondence& correspondence,
             const Region& region, const Policy& policy, const Waves& waves, Effort& left);
  ~Comparison(); // takes what was spent from what is left
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  Proof run();
  /// Runs both from random states. The region may be any piece of code here.
  Trial try_runs(unsigned attempts);
  /// More terms or steps than were left.
  bool too_large() const { return shared_.terms.too_large(); }

private:
  void enter();
  Result<std::array<Outcomes, 2>> execute(bool window);
  analysis::RegisterSet live_at(size_t side, size_t item) const;
  analysis::RegisterSet live_behind(const std::string& exit) const;
  bool equal(Id a, Id b, Id condition) { return equality_->compare(a, b, condition) == Answer::equal; }
  Proof compare(const Outcomes& original, const Outcomes& candidate);
  std::string first_difference(Id a, Id b);
  std::optional<std::string> differs(const std::string& target, const Exit* a, const Exit* b);
  std::string describe(const std::string& target) const;
  bool allowed(const Read& read, const std::vector<Read>& original) const;

  const Version* versions_[2];
  const Correspondence& correspondence_;
  const Region& region_;
  const Policy& policy_;
  Waves waves_;
  Effort& left_;
  Shared shared_;
  Registers entry_[2];
  Memories memories_;
  std::optional<Equality> equality_;
};

/// Looks for a state in which the region, or what is different in it, really differs: then `proof` is refuted.
void seek_counterexample(const Version& original, const Version& candidate, const Correspondence& correspondence,
                         const Region& region, const Policy& policy, Effort& left, Proof& proof);

} // namespace asmevo::prove
