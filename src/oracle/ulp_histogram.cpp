#include "oracle/ulp_histogram.h"

#include <fmt/format.h>
#include <numeric>

namespace asmevo::oracle {

namespace {

std::string range_of(size_t k, size_t last) {
  if (k == 0) return "equal";
  const uint64_t from = uint64_t{1} << (k - 1);
  if (k == last) return fmt::format("at {} ulp or more", from);
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
  std::string text;
  for (size_t k = 0; k < histogram.counts.size(); ++k)
    if (histogram.counts[k])
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", share(histogram.counts[k], histogram.elements()),
                          range_of(k, histogram.counts.size() - 1));
  return text;
}

} // namespace asmevo::oracle
