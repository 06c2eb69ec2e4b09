#include "gate/verdict.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace asmevo::gate {
namespace {

// By enumerator. The names are stored in lineages and printed in reports, so they never change.
constexpr std::array<std::string_view, outcome_count> outcome_names = {
    "accepted",         "assembly_failure", "static_inconsistency", "divergence", "runtime_fault",
    "guard_corruption", "timing_unstable",  "insufficient_speedup", "duplicate"};
constexpr std::array<std::string_view, 3> equivalence_names = {"tested", "tested_strict_clean", "proved"};

template <class Enum, size_t n>
std::optional<Enum> find_name(const std::array<std::string_view, n>& names, std::string_view name) {
  auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return Enum(at - names.begin());
}

} // namespace

std::string_view outcome_name(Outcome outcome) { return outcome_names[size_t(outcome)]; }
std::optional<Outcome> outcome_from_name(std::string_view name) { return find_name<Outcome>(outcome_names, name); }

std::string_view equivalence_name(Equivalence equivalence) { return equivalence_names[size_t(equivalence)]; }
std::optional<Equivalence> equivalence_from_name(std::string_view name) {
  return find_name<Equivalence>(equivalence_names, name);
}

std::string bounded_evidence(std::string text) {
  if (text.size() <= evidence_limit) return text;
  constexpr size_t room_for_note = 48;
  size_t keep = evidence_limit - room_for_note;
  size_t line_end = text.rfind('\n', keep);
  if (line_end != std::string::npos && line_end > keep / 2) keep = line_end;
  while (keep > 0 && (uint8_t(text[keep]) & 0xc0) == 0x80) --keep; // never cut a UTF-8 character in two
  std::string note = fmt::format("\n... ({} more bytes)", text.size() - keep);
  text.resize(keep);
  return text + note;
}

} // namespace asmevo::gate
