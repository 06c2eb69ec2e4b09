// Would a wrong answer pass?
//
// A bound is only worth what it refuses. `absolute 1e-2` lets zeros pass for a softmax over a wide row; so before a
// bound judges anybody, three wrong answers are held against it: all zeros, everything off by one place, everything
// scaled. Elements that carry half of the result's magnitude must refuse zeros and scaling (in a softmax over wide
// rows most elements are next to nothing), and a tenth of the difference between neighbours must refuse the shift. A
// bound that does not is tightened in steps of ten, and refused when that does not help.
#pragma once

#include "oracle/compare.h"

namespace asmevo::oracle {

struct Discrimination {
  bool zeros = true, shift = true, scale = true; // refused, or there is nothing to tell by
  bool all_zero = false;                         // K0's own result is zeros only
  bool constant = false;                         // all elements are equal
  bool nothing = false;                          // no element was written
  bool sufficient() const { return zeros && shift && scale; }
  std::string weakness() const; // "zeros and a scaled result"
};

Discrimination discriminate(const Expected& expected, const launch::Tolerance& tolerance);

/// The loosest of `tolerance`, a tenth of it, a hundredth ... that discriminates; nullopt when none down to 1e-4 does.
std::optional<launch::Tolerance> tightened(const Expected& expected, const launch::Tolerance& tolerance);

/// All bounds times `factor`; the distance of the cosine from 1 likewise.
launch::Tolerance scaled(const launch::Tolerance& tolerance, double factor);

} // namespace asmevo::oracle
