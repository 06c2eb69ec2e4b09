#include "search/budget.h"

#include <algorithm>
#include <charconv>

namespace asmevo::search {
namespace {

struct Unit {
  std::string_view suffix;
  double seconds;
};
constexpr Unit units[] = {{"s", 1}, {"m", 60}, {"h", 3600}};

bool parse_part(std::string_view part, Budget& budget) {
  int64_t count = 0;
  auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), count);
  if (error != std::errc() || count <= 0) return false;
  std::string_view suffix = part.substr(size_t(end - part.data()));
  if (suffix.empty()) {
    if (budget.evaluations) return false;
    budget.evaluations = count;
    return true;
  }
  const auto* unit = std::ranges::find(units, suffix, &Unit::suffix);
  if (unit == std::end(units) || budget.seconds > 0) return false;
  budget.seconds = double(count) * unit->seconds;
  return true;
}

} // namespace

Result<Budget> parse_budget(std::string_view text) {
  Budget budget;
  for (std::string_view rest = text;;) {
    size_t comma = rest.find(',');
    if (!parse_part(rest.substr(0, comma), budget))
      return fail("--budget {}: write evaluations (200), a time (90s, 10m, 2h) or both (200,10m)", text);
    if (comma == std::string_view::npos) return budget;
    rest.remove_prefix(comma + 1);
  }
}

} // namespace asmevo::search
