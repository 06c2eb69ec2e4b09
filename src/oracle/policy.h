// How two outputs are compared: bounds by element type.
//
// Integers and opaque bytes must be equal. Floating-point elements may differ by
//     |got - expected| <= absolute + relative * |expected| + scaled * rms(expected)
// and the whole buffer must point the same way (cosine). The `scaled` term exists because a sum of many terms carries
// an error of the size of the terms and not of the result; it follows the data, where a plain absolute bound that suits
// one kernel lets zeros pass for another. The defaults are a few units in the last place of each type: what another
// order of the same operations can cost, not what another algorithm can.
#pragma once

#include "launch/launch.h"

#include <map>

namespace asmevo::oracle {

struct Policy {
  std::map<launch::DType, launch::Tolerance> by_dtype;
  /// Candidates may execute this many times K0's instructions, plus the slack, before they count as endless.
  uint64_t budget_factor = 10;
  uint64_t budget_slack = 1'000'000;

  /// The bounds for a buffer: those of the launch file, else those of its type.
  launch::Tolerance of(const launch::Case& c, const launch::Buffer& buffer) const;
  uint64_t budget(uint64_t original_instructions) const { return original_instructions * budget_factor + budget_slack; }
  std::string hash() const; // sha256, part of receipts
};

Policy default_policy();

/// Whether some output of the launch is floating point with a bound above zero: rewrites that round differently may
/// pass.
bool allows_float_rewrites(const Policy& policy, const launch::Launch& launch);

} // namespace asmevo::oracle
