#include "gate/commit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace asmevo::gate {
namespace {

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double percentile(const std::vector<double>& sorted, double share) {
  return sorted[size_t(std::lround(share * double(sorted.size() - 1)))];
}

double coefficient_of_variation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double mean = std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / double(values.size() - 1)) / mean;
}

bool positive(double seconds) { return std::isfinite(seconds) && seconds > 0; }

} // namespace

Result<Timing> compare(const timing::Estimate& original, const timing::Estimate& candidate, std::string device) {
  if (original.seconds.empty() || original.seconds.size() != candidate.seconds.size())
    return fail("{}: {} timings of the original and {} of the candidate cannot be paired", device,
                original.seconds.size(), candidate.seconds.size());
  if (!std::ranges::all_of(original.seconds, positive) || !std::ranges::all_of(candidate.seconds, positive))
    return fail("{}: a measured time is not a positive number of seconds", device);
  std::vector<double> speedups(original.seconds.size());
  for (size_t i = 0; i < speedups.size(); ++i) speedups[i] = original.seconds[i] / candidate.seconds[i];
  Timing timing;
  timing.original_seconds = median_of(original.seconds);
  timing.candidate_seconds = median_of(candidate.seconds);
  timing.speedup = timing.original_seconds / timing.candidate_seconds;
  timing.cv = coefficient_of_variation(speedups);
  timing.faster = double(std::ranges::count_if(speedups, [](double s) { return s > 1; })) / double(speedups.size());
  std::ranges::sort(speedups);
  timing.low = percentile(speedups, 0.05);
  timing.high = percentile(speedups, 0.95);
  timing.device = std::move(device);
  return timing;
}

double required_speedup(const CommitRule& rule, double parent_speedup, double cv) {
  return std::max((1 + std::max(rule.epsilon, rule.k * cv)) * parent_speedup, rule.floor);
}

Outcome judge(const CommitRule& rule, const Timing& timing, double parent_speedup) {
  if (timing.speedup < required_speedup(rule, parent_speedup, 0)) return Outcome::insufficient_speedup;
  bool clear_of_spread = timing.speedup >= required_speedup(rule, parent_speedup, timing.cv);
  return clear_of_spread && timing.faster >= rule.faster ? Outcome::accepted : Outcome::timing_unstable;
}

} // namespace asmevo::gate
