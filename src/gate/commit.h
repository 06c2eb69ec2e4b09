// The commit rule: when is faster fast enough?
//
// A search that keeps every apparent gain walks on noise: a hundred candidates that are each 0.1 % faster by luck add
// up to nothing. So a candidate must beat its parent by more than the spread of its own speedup. K0 and the candidate
// are timed under the same draws (on the simulated device a draw is one choice of the model's uncertain parameters, on
// hardware one launch), which makes the speedup of each draw a paired comparison, and its spread what is really unsure.
#pragma once

#include "gate/verdict.h"
#include "support/result.h"
#include "timing/timing.h"

namespace asmevo::gate {

/// s >= max((1 + max(epsilon, k * cv)) * s_parent, s_floor), and faster than K0 in this share of the draws: a gain that
/// vanishes inside the error bars is no gain, however large it is in the middle of them.
struct CommitRule {
  double epsilon = 0.002;
  double k = 0.85;
  double floor = 1;
  double faster = 0.9;
};

/// Pairs two estimates draw by draw. Errors: different numbers of draws, a time that is not positive.
Result<Timing> compare(const timing::Estimate& original, const timing::Estimate& candidate, std::string device);

/// The speedup over K0 that a candidate with this spread must reach.
double required_speedup(const CommitRule& rule, double parent_speedup, double cv);

/// accepted; timing_unstable when only the spread stands against it; insufficient_speedup otherwise.
Outcome judge(const CommitRule& rule, const Timing& timing, double parent_speedup);

} // namespace asmevo::gate
