#include "oracle/divergence.h"

#include <cmath>

namespace asmevo::oracle {

using launch::DType;

namespace {

std::string shape_text(const launch::Buffer& buffer) {
  return fmt::format("{}[{}]", launch::name_of(buffer.dtype), fmt::join(buffer.shape, ","));
}

std::string value_text(DType dtype, uint64_t bits) {
  int digits = int(launch::width_of(dtype)) / 4;
  if (!launch::is_floating(dtype)) {
    if (launch::format_of(dtype).is_signed) {
      unsigned unused = 64 - unsigned(digits) * 4;
      return fmt::format("{} (0x{:0{}x})", int64_t(bits << unused) >> unused, bits, digits);
    }
    return fmt::format("{} (0x{:0{}x})", bits, bits, digits);
  }
  return fmt::format("{:.9g} (0x{:0{}x})", launch::value_of(dtype, bits), bits, digits);
}

std::string extent_text(const launch::Buffer& buffer, const std::vector<IndexRange>& extent) {
  std::string text;
  for (size_t d = 0; d < extent.size(); ++d) {
    auto [low, high] = extent[d];
    if (low == 0 && high + 1 == buffer.shape[d]) continue;
    text += fmt::format("{}index {} {}", text.empty() ? "only where " : " and ", d, low == high ? "is " : "is from ");
    text += low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
    text += fmt::format(" (of 0 to {})", buffer.shape[d] - 1);
  }
  return text.empty() ? "spread over the whole shape" : text;
}

std::string bound_text(const Expected& expected, const launch::Tolerance& t) {
  if (!launch::is_floating(expected.buffer->dtype)) return "compared exactly";
  return fmt::format("allowed is {:.3g} + {:.3g} * |expected|", t.absolute + t.scaled * expected.rms, t.relative);
}

} // namespace

std::string describe(const Expected& expected, std::span<const uint8_t> got, const Comparison& comparison,
                     const launch::Tolerance& tolerance) {
  const launch::Buffer& buffer = *expected.buffer;
  if (comparison.mismatches == 0)
    return fmt::format(
        "`{}` {}: every element is within its bound, but the cosine is {:.9g} and must be at least {:.9g}\n",
        buffer.name, shape_text(buffer), comparison.cosine, tolerance.cosine);
  std::string text = fmt::format("`{}` {}: {} of {} elements differ ({}), {}\n", buffer.name, shape_text(buffer),
                                 comparison.mismatches, buffer.elements(), bound_text(expected, tolerance),
                                 extent_text(buffer, mismatch_extent(expected, got, tolerance)));
  for (const Mismatch& m : comparison.first) {
    text += fmt::format("  [{}] expected {}, got {}", fmt::join(index_in(buffer.shape, m.index), ","),
                        value_text(buffer.dtype, m.expected), value_text(buffer.dtype, m.got));
    if (expected.untouched.contains(m.index))
      text += ": K0 does not write here";
    else if (launch::is_floating(buffer.dtype))
      text += fmt::format(", {} ulp", ulp_distance(buffer.dtype, m.expected, m.got));
    text += "\n";
  }
  return text;
}

} // namespace asmevo::oracle
