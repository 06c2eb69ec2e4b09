// The static gate: every rule over a whole program, and what a candidate adds to what the original already has.
#pragma once

#include "analysis/waits.h"

namespace asmevo::analysis {

struct Rule {
  std::string_view id;
  std::string_view what; // one line; docs/checks.md says more
};

/// Every rule that can be reported, by id.
const std::vector<Rule>& rules();

/// All findings, by function and item. R008 is about candidates only and not among them.
std::vector<Finding> check(const recover::Program& program);
std::vector<Finding> check(const recover::Program& program, const recover::Function& function);

/// The same with R008: what counts for a candidate, beyond what its original has as well.
std::vector<Finding> check_candidate(const recover::Program& program, const recover::Function& function);

/// What `candidate` has and `original` has not: findings are the same when rule, function and the text of both ends
/// are. What the original does is a fact about it, and a candidate may keep doing it as often, but not more often.
/// Includes R008.
std::vector<Finding> new_findings(const recover::Program& original, const recover::Program& candidate);

} // namespace asmevo::analysis
