#include "agent/focus.h"

#include "search/foci.h"

namespace asmevo::agent {
namespace {

constexpr size_t most_foci = 16;

} // namespace

std::optional<search::Direction> direction_of_search(std::string_view name) {
  const auto at = size_t(std::ranges::find(directions, name) - directions.begin());
  return at < search::direction_count ? std::optional(search::Direction(at)) : std::nullopt;
}

bool within(const Focus& focus, const CodeView& view, const search::Focus& wanted) {
  const search::Range range = view.windows[focus.window].range;
  const bool meets = !wanted.window || (range.first < wanted.window->last && wanted.window->first < range.last);
  return meets && (!wanted.direction || size_t(*wanted.direction) == size_t(focus.direction));
}

std::vector<Focus> foci_of(const CodeView& view) {
  std::vector<Focus> foci;
  for (const search::RankedFocus& one : search::rank_foci(view.windows))
    if (foci.size() < most_foci) foci.push_back({one.window, Direction(one.direction)});
  return foci;
}

} // namespace asmevo::agent
