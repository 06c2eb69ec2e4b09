#include "timing/plot.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace asmevo::bench {

namespace {

constexpr double size = 640, left = 70, top = 50; // of the square, and its place
constexpr double band = 0.2;

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

/// Decades that hold all values.
struct Axis {
  double low = 0, high = 1; // exponents

  explicit Axis(const std::vector<Point>& points) {
    double least = INFINITY, most = 0;
    for (const Point& p : points) {
      least = std::min({least, p.measured, p.predicted});
      most = std::max({most, p.measured, p.predicted});
    }
    if (!(least > 0) || !std::isfinite(least)) return;
    low = std::floor(std::log10(least));
    high = std::max(low + 1, std::ceil(std::log10(most)));
  }
  /// Pixels from the origin.
  double at(double value) const { return (std::log10(value) - low) / (high - low) * size; }
};

std::string tick(double exponent) {
  return exponent >= 0 && exponent < 7 ? fmt::format("{:.0f}", std::pow(10, exponent))
                                       : fmt::format("10^{:.0f}", exponent);
}

} // namespace

std::string scatter_plot(const std::vector<Point>& points, const std::string& title, const std::string& unit) {
  const Axis axis(points);
  const auto x = [&](double value) { return left + axis.at(value); };
  const auto y = [&](double value) { return top + size - axis.at(value); };
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" font-family="sans-serif" font-size="13">)"
      "\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n<text x=\"{2}\" y=\"24\" font-size=\"16\">{3}</text>\n",
      left + size + 20, top + size + 90, left, escaped(title));

  // Decades.
  for (double e = axis.low; e <= axis.high; ++e) {
    const double value = std::pow(10, e);
    out += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {4:.1f}H{5:.1f}\" stroke=\"#ddd\"/>\n", x(value),
                       top, top + size, left, y(value), left + size);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x(value), top + size + 18,
                       tick(e));
    out +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6, y(value) + 4, tick(e));
  }
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">measured, {}</text>\n", left + size / 2,
                     top + size + 40, escaped(unit));
  out +=
      fmt::format("<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">predicted, {}</text>\n",
                  top + size / 2, escaped(unit));

  // The diagonal and the band, cut off at the square.
  out += fmt::format("<clipPath id=\"square\"><rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{2}\"/></clipPath>\n",
                     left, top, size);
  const double least = std::pow(10, axis.low), most = std::pow(10, axis.high);
  for (const auto& [factor, style] :
       {std::pair(1.0, "stroke=\"#888\""), std::pair(1 + band, "stroke=\"#bbb\" stroke-dasharray=\"4\""),
        std::pair(1 / (1 + band), "stroke=\"#bbb\" stroke-dasharray=\"4\"")})
    out += fmt::format("<path clip-path=\"url(#square)\" fill=\"none\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" {}/>\n",
                       x(least), y(least * factor), x(most), y(most * factor), style);
  out += fmt::format("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{2}\" fill=\"none\" stroke=\"#444\"/>\n", left,
                     top, size);

  const auto dot = [&](double at_x, double at_y, bool test) {
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" {}", at_x, at_y,
                       test ? "fill=\"#d62728\" fill-opacity=\"0.75\""
                            : "fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"1.5\"");
  };
  for (bool test : {false, true}) // test points on top
    for (const Point& p : points)
      if (p.test == test)
        out +=
            dot(x(p.measured), y(p.predicted), test) + fmt::format("><title>{}</title></circle>\n", escaped(p.label));
  const auto tests = std::ranges::count_if(points, &Point::test);
  const double legend = top + size + 68;
  out += dot(left + 6, legend - 4, false) + "/>\n" + dot(left + 166, legend - 4, true) + "/>\n";
  out += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\">{} fit rows</text><text x=\"{:.1f}\" y=\"{:.1f}\">{} test rows</text>"
      "<text x=\"{:.1f}\" y=\"{:.1f}\">dashed: 20 % off</text>\n",
      left + 16, legend, points.size() - size_t(tests), left + 176, legend, tests, left + 320, legend);
  return out + "</svg>\n";
}

} // namespace asmevo::bench
