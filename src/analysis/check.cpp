#include "analysis/check.h"

#include "analysis/convergence.h"
#include "analysis/hazards.h"
#include "analysis/resources.h"
#include "analysis/restoration.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace asmevo::analysis {
namespace {

using recover::Function;
using recover::Program;

constexpr std::array other_rules = {
    Rule{"W001", "a vector memory result is read before vmcnt says that it is there"},
    Rule{"W002", "a pending vector memory result is overwritten"},
    Rule{"W003", "an LDS result is read before lgkmcnt says that it is there"},
    Rule{"W004", "a pending LDS result is overwritten"},
    Rule{"W005", "a scalar load's result is read before lgkmcnt(0)"},
    Rule{"W006", "a pending scalar load's result is overwritten"},
    Rule{"W007", "a FLAT result is used before vmcnt(0) and lgkmcnt(0)"},
    Rule{"W008", "data that a GWS instruction may still read is overwritten before expcnt(0)"},
    Rule{"W009", "s_barrier is reached while an LDS write is outstanding"},
    Rule{"W010", "LDS is written after a barrier that an LDS read was outstanding at"},
    Rule{"W011", "a store is issued while a cache write-back is outstanding"},
    Rule{"W012", "a device function uses a register before it has waited for its caller's loads"},
    Rule{"W013", "a device function returns with memory operations outstanding"},
    Rule{"H031", "a run of loads under XNACK overwrites what it would read again"},
    Rule{"R001", "a VGPR above the declaration"},
    Rule{"R002", "a VGPR row that is also an accumulator"},
    Rule{"R003", "an AGPR above the declaration"},
    Rule{"R004", "an SGPR above the declaration"},
    Rule{"R005", "an LDS offset beyond the allocation"},
    Rule{"R006", "control runs past the end of the function or into data"},
    Rule{"R007", "a kernel argument read outside the segment"},
    Rule{"R008", "an instruction that a candidate may only have where the original has it"},
    Rule{"R009", "a word that is no instruction is executed"},
    Rule{"R010", "a branch to a label that is nowhere"},
    Rule{"R011", "a scratch offset beyond the declaration"},
    Rule{"R012", "a barrier that not all waves of a workgroup reach equally often"},
    Rule{"R013", "a device function that returns with another EXEC than it was called with"},
};

using Key = std::tuple<std::string, std::string, std::string, std::string>; // rule, function, both texts
using Counts = std::map<Key, size_t>;

Key key_of(const Program& program, const Function& function, const Finding& finding) {
  return {finding.rule, function.name, program.items[finding.item].text, program.items[finding.cause].text};
}

} // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list(other_rules.begin(), other_rules.end());
    for (const HazardRule& rule : hazard_rules()) list.push_back({rule.id, rule.what});
    std::ranges::stable_sort(list, {}, &Rule::id);
    const auto repeated = std::ranges::unique(list, {}, &Rule::id);
    list.erase(repeated.begin(), repeated.end());
    return list;
  }();
  return all;
}

std::vector<Finding> check(const Program& program, const Function& function) {
  const Graph graph = control_flow(program, function);
  std::vector<Finding> findings = verify_waits(program, function, graph);
  for (Finding& finding : verify_hazards(program, function, graph)) findings.push_back(std::move(finding));
  for (Finding& finding : verify_resources(program, function, graph)) findings.push_back(std::move(finding));
  for (Finding& finding : verify_convergence(program, function, graph)) findings.push_back(std::move(finding));
  for (Finding& finding : verify_restored_exec(program, function, graph)) findings.push_back(std::move(finding));
  std::ranges::stable_sort(findings, {}, &Finding::item);
  return findings;
}

std::vector<Finding> check(const Program& program) {
  std::vector<Finding> findings;
  for (const Function& function : program.functions)
    for (Finding& finding : check(program, function)) findings.push_back(std::move(finding));
  return findings;
}

std::vector<Finding> check_candidate(const Program& program, const Function& function) {
  std::vector<Finding> findings = check(program, function);
  for (Finding& finding : restricted_instructions(program, function)) findings.push_back(std::move(finding));
  return findings;
}

std::vector<Finding> new_findings(const Program& original, const Program& candidate) {
  Counts known;
  for (const Function& function : original.functions)
    for (const Finding& finding : check_candidate(original, function)) ++known[key_of(original, function, finding)];
  std::vector<Finding> added;
  for (const Function& function : candidate.functions)
    for (Finding& finding : check_candidate(candidate, function)) {
      size_t& left = known[key_of(candidate, function, finding)];
      if (left > 0)
        --left;
      else
        added.push_back(std::move(finding));
    }
  return added;
}

} // namespace asmevo::analysis
