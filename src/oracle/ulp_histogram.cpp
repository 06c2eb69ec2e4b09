#include "oracle/ulp_histogram.h"

#include <fmt/format.h>
#include <numeric>

namespace asmevo::oracle {

namespace {

constexpr size_t told_apart = 4; // groups: equal, 1, 2 to 3, 4 to 7

std::string range_of(size_t k) {
  if (k == 0) return "equal";
  const uint64_t from = uint64_t{1} << (k - 1);
  return k == 1 ? "at 1 ulp" : fmt::format("at {} to {} ulp", from, 2 * from - 1);
}

// A share that is there is never shown as 0.
std::string share(uint64_t count, uint64_t of) {
  const double percent = 100.0 * double(count) / double(of);
  return percent < 0.001 ? "under 0.001 %" : fmt::format("{:.{}f} %", percent, percent < 0.1 ? 3 : 1);
}

} // namespace

uint64_t UlpHistogram::elements() const { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

std::string describe(const UlpHistogram& histogram) {
  const size_t last = histogram.counts.size() - 1;
  std::string text;
  uint64_t further = 0;
  size_t furthest = 0;
  for (size_t k = 0; k <= last; ++k) {
    if (!histogram.counts[k]) continue;
    if (k < told_apart) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", share(histogram.counts[k], histogram.elements()),
                          range_of(k));
      continue;
    }
    further += histogram.counts[k];
    furthest = k;
  }
  if (!further) return text;
  return text + fmt::format("{}{} further, up to {} ulp", text.empty() ? "" : ", ",
                            share(further, histogram.elements()),
                            furthest == last ? "any number of" : fmt::format("{}", (uint64_t{1} << furthest) - 1));
}

} // namespace asmevo::oracle
