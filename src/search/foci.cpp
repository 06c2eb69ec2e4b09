#include "search/foci.h"

#include <algorithm>

namespace asmevo::search {
namespace {

using profile::Reason;

constexpr size_t most_windows = 8;

/// How much of the time that waves stand for a reason a direction can help against, in thirds.
using Affinity = std::array<uint8_t, direction_count>;
struct Row {
  Reason reason;
  Affinity helps; // latency hiding, dependency reduction, register pressure, memory access, simplification
};
constexpr Affinity issuing = {0, 0, 0, 1, 3};
constexpr Affinity unknown = {1, 1, 1, 1, 1};
constexpr Row rows[] = {
    {Reason::dependency, {2, 3, 0, 0, 2}},   {Reason::vmcnt, {3, 1, 2, 2, 0}},
    {Reason::lgkmcnt, {3, 1, 1, 2, 0}},      {Reason::expcnt, {1, 1, 0, 2, 0}},
    {Reason::wait, {3, 1, 2, 2, 0}},         {Reason::pipe_busy, {1, 1, 0, 0, 3}},
    {Reason::lds_conflict, {0, 0, 0, 3, 0}}, {Reason::memory_throughput, {0, 0, 1, 3, 1}},
    {Reason::barrier, {2, 1, 1, 1, 1}},      {Reason::fetch, {0, 0, 0, 0, 3}},
    {Reason::not_selected, {0, 0, 0, 1, 2}},
};

const Affinity& affinity(Reason reason) {
  const auto* row = std::ranges::find(rows, reason, &Row::reason);
  return row == std::end(rows) ? unknown : row->helps;
}

} // namespace

std::vector<RankedFocus> rank_foci(std::span<const HotWindow> windows) {
  std::vector<RankedFocus> ranked;
  for (size_t rank = 0; rank < std::min(windows.size(), most_windows); ++rank) {
    const profile::Window& window = windows[rank].window;
    for (size_t d = 0; d < direction_count; ++d) {
      double worth = window.issuing * issuing[d];
      for (size_t r = 0; r < profile::reason_count; ++r) worth += window.stalls[r] * affinity(Reason(r))[d];
      if (worth > 0) ranked.push_back({rank, Direction(d), worth});
    }
  }
  std::ranges::stable_sort(ranked, std::greater(), &RankedFocus::worth);
  return ranked;
}

} // namespace asmevo::search
