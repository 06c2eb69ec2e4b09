// Findings of one run, each pair of instructions once, with how often it came up.
#pragma once

#include "machine/finding.h"
#include "machine/workgroup.h"

#include <map>
#include <tuple>

namespace asmevo::machine::strict {

class Findings {
public:
  /// Counts a finding; gives it back to be described where it is new, else null.
  Finding* add(FindingKind kind, const Wave& w, uint32_t instruction, int64_t cause = -1) {
    auto [place, fresh] = found_.try_emplace({instruction, kind, cause});
    Finding& finding = place->second;
    ++finding.count;
    if (!fresh) return nullptr;
    finding.kind = kind;
    finding.instruction = instruction;
    finding.cause = cause;
    finding.workgroup = w.workgroup->id;
    finding.wave = w.id;
    return &finding;
  }
  std::vector<Finding> take() {
    std::vector<Finding> all;
    for (auto& [key, finding] : found_) all.push_back(std::move(finding));
    return all;
  }

private:
  std::map<std::tuple<uint32_t, FindingKind, int64_t>, Finding> found_;
};

} // namespace asmevo::machine::strict
