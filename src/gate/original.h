// K0 as the gate sees it: what every candidate is compared with.
//
// Nothing is edited before the round trip holds: an unedited rebuild must give K0 back, or every later difference could
// be ours. And K0 is not perfect either. A wait that it lacks is a fact about K0, told once; only what a candidate adds
// is held against the candidate.
#pragma once

#include "analysis/waits.h"
#include "recover/recover.h"

#include <map>
#include <memory>

namespace asmevo::gate {

/// Findings by what they say and not by where they stand, since an edit moves everything behind it: rule and the text
/// of both instructions, with how often it occurs.
using FindingCounts = std::map<std::string, unsigned>;

struct Original {
  std::shared_ptr<const object::CodeObject> object;
  std::string kernel;
  std::string hash; // sha256 of the file
  recover::Program program;
  std::vector<std::string> masked; // what the round trip did not compare
  size_t repairs = 0;              // instructions that are kept as raw words
  std::vector<analysis::Finding> findings;
  std::optional<std::string> lacking; // registers that K0 itself uses and does not declare
  FindingCounts finding_counts;
};

/// Errors: no such kernel, K0 cannot be recovered, the round trip changes something (all differences are in the
/// message).
Result<Original> examine(std::shared_ptr<const object::CodeObject> object, const std::string& kernel,
                         const isa::Codec& codec);

/// The function of the kernel named `kernel`. Errors: the listing has none.
Result<const recover::Function*> function_of(const recover::Program& program, const std::string& kernel);

/// What instructions need and the descriptor does not declare, in words: on hardware, another wave's registers.
std::optional<std::string> lacking_resources(const isa::Resources& needed, const isa::Resources& declared);

/// Every rule of docs/checks.md over one function.
std::vector<analysis::Finding> static_findings(const recover::Program& program, const recover::Function& function);
FindingCounts count_findings(const recover::Program& program, const std::vector<analysis::Finding>& findings);
std::string finding_key(const recover::Program& program, const analysis::Finding& finding);

} // namespace asmevo::gate
