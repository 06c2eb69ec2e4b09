// The static stage: what can be said of a candidate without running it.
#include "gate/pipeline.h"

namespace asmevo::gate {
namespace {

/// Findings that the candidate has more often than K0, one a line.
std::string new_findings(const Built& built, const recover::Function& function, const Original& original) {
  FindingCounts allowed = original.finding_counts;
  std::string out;
  for (const analysis::Finding& finding : static_findings(built.program, function)) {
    unsigned& left = allowed[finding_key(built.program, finding)];
    if (left > 0)
      --left;
    else
      out += fmt::format("{} {}\n", finding.rule, finding.message);
  }
  return out;
}

std::unexpected<Halt> inconsistent(std::string evidence) {
  return std::unexpected<Halt>(
      Verdict{.outcome = Outcome::static_inconsistency, .evidence = bounded_evidence(std::move(evidence))});
}

} // namespace

Stage<std::monostate> check(const Built& built, const Bench& bench) {
  if (auto difference = recover::abi_difference(*bench.original->object, *built.object))
    return inconsistent(*difference);
  auto function = function_of(built.program, bench.original->kernel);
  if (!function) return inconsistent(function.error().message);
  auto needed = recover::scan_resources(built.program, **function);
  if (!needed) return inconsistent(needed.error().message);
  auto lacking = lacking_resources(*needed, built.program.declared[size_t((*function)->kernel)]);
  if (lacking && !bench.original->lacking) return inconsistent(*lacking);
  if (std::string findings = new_findings(built, **function, *bench.original); !findings.empty())
    return inconsistent(std::move(findings));
  return std::monostate{};
}

} // namespace asmevo::gate
