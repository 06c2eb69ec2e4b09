#include "oracle/discrimination.h"

#include <algorithm>
#include <cmath>

namespace asmevo::oracle {

namespace {

constexpr uint64_t most_samples = 1 << 16;

/// How much a result must be scaled to be wrong by any measure: formats of two or three mantissa bits need more.
double wrong_scale(launch::DType dtype) { return launch::width_of(dtype) <= 8 ? 1.5 : 1.1; }

} // namespace

std::string Discrimination::weakness() const {
  std::vector<std::string> parts;
  if (!zeros) parts.push_back("zeros");
  if (!shift) parts.push_back("a result shifted by one element");
  if (!scale) parts.push_back("a scaled result");
  return fmt::format("{}", fmt::join(parts, " and "));
}

Discrimination discriminate(const Expected& expected, const launch::Tolerance& tolerance) {
  launch::DType dtype = expected.buffer->dtype;
  uint64_t elements = expected.buffer->elements();
  uint64_t step = std::max<uint64_t>(1, elements / most_samples);
  double floor = tolerance.absolute + tolerance.scaled * expected.rms, scale = wrong_scale(dtype) - 1;
  auto value = [&](uint64_t i) {
    return launch::value_of(dtype, launch::load_element(dtype, expected.bytes.data(), i));
  };
  uint64_t written = 0;
  // Sums of magnitudes, not counts: results may span many.
  double magnitude = 0, zeros_refused = 0, scale_refused = 0, difference = 0, shift_refused = 0;
  for (uint64_t i = 0; i < elements; i += step) {
    double e = value(i), next = value((i + 1) % elements);
    if (expected.ignored.contains(i) || !std::isfinite(e)) continue;
    ++written;
    double bound = launch::is_floating(dtype) ? floor + tolerance.relative * std::fabs(e) : 0;
    magnitude += std::fabs(e);
    if (std::fabs(e) > bound) zeros_refused += std::fabs(e);
    if (std::fabs(e) * scale > bound) scale_refused += std::fabs(e);
    if (e != next && std::isfinite(next) && !expected.ignored.contains((i + 1) % elements)) {
      difference += std::fabs(e - next);
      if (std::fabs(e - next) > bound) shift_refused += std::fabs(e - next);
    }
  }
  Discrimination result;
  result.nothing = written == 0;
  result.all_zero = written > 0 && magnitude == 0;
  result.constant = written > 0 && difference == 0;
  result.zeros = zeros_refused * 2 >= magnitude;
  result.scale = scale_refused * 2 >= magnitude;
  result.shift = difference == 0 || shift_refused * 10 >= difference;
  return result;
}

launch::Tolerance scaled(const launch::Tolerance& t, double factor) {
  return {.absolute = t.absolute * factor,
          .relative = t.relative * factor,
          .scaled = t.scaled * factor,
          .cosine = t.cosine > 0 ? std::max(0.0, 1 - (1 - t.cosine) * factor) : 0};
}

std::optional<launch::Tolerance> tightened(const Expected& expected, const launch::Tolerance& tolerance) {
  for (double factor : {1.0, 0.1, 0.01, 1e-3, 1e-4})
    if (launch::Tolerance t = factor == 1.0 ? tolerance : scaled(tolerance, factor);
        discriminate(expected, t).sufficient())
      return t;
  return std::nullopt;
}

} // namespace asmevo::oracle
