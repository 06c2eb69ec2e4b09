#include "search/driver.h"

#include <algorithm>
#include <array>

namespace asmevo::search {
namespace {

constexpr std::array<std::string_view, direction_count> names = {
    "latency-hiding", "dependency-reduction", "register-pressure", "memory-access", "instruction-simplification"};

} // namespace

std::string_view direction_name(Direction direction) { return names[size_t(direction)]; }

std::optional<Direction> direction_from_name(std::string_view name) {
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return Direction(found - names.begin());
}

} // namespace asmevo::search
