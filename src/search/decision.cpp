#include "search/decision.h"

#include <algorithm>
#include <array>

namespace asmevo::search {
namespace {

constexpr std::array<std::string_view, 5> names = {"exhausted", "redirect", "backtrack", "share", "conflict"};

} // namespace

std::string_view decision_name(DecisionKind kind) { return names[size_t(kind)]; }

std::optional<DecisionKind> decision_from_name(std::string_view name) {
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return DecisionKind(found - names.begin());
}

} // namespace asmevo::search
