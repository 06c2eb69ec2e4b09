#include "report/curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace asmevo::report {

namespace {

std::vector<std::string> names_of(const std::vector<Curve>& curves, std::string Curve::* name) {
  std::vector<std::string> names;
  for (const Curve& curve : curves)
    if (std::ranges::find(names, curve.*name) == names.end()) names.push_back(curve.*name);
  return names;
}

const Curve* find(const std::vector<Curve>& curves, const std::string& kernel, const std::string& driver) {
  const auto found = std::ranges::find_if(
      curves, [&](const Curve& c) { return c.kernel == kernel && c.driver == driver && c.failure.empty(); });
  return found == curves.end() ? nullptr : &*found;
}

size_t longest(const std::vector<Curve>& curves) {
  size_t most = 0;
  for (const Curve& curve : curves) most = std::max(most, curve.best.size());
  return most;
}

std::string cell(const Curve* curve) {
  return curve ? fmt::format("{:.3f}x ({}/{})", curve->speedup(), curve->accepted, curve->best.size()) : "-";
}

/// How the first driver fares against another, over the kernels that both searched.
std::string against(const std::vector<Curve>& curves, const std::string& first, const std::string& other) {
  size_t both = 0, better = 0, equal = 0;
  for (const std::string& kernel : names_of(curves, &Curve::kernel)) {
    const Curve *a = find(curves, kernel, first), *b = find(curves, kernel, other);
    if (!a || !b) continue;
    ++both;
    better += a->speedup() > b->speedup();
    equal += a->speedup() == b->speedup();
  }
  return fmt::format("{} is better than {} on {} of {} kernels, equal on {}\n", first, other, better, both, equal);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

/// Places of the picture, in pixels.
struct Frame {
  static constexpr double width = 720, height = 420, left = 70, top = 50;
  double evaluations = 1, most = 1.1; // what the axes end at

  double x(double evaluation) const { return left + evaluation / evaluations * width; }
  double y(double speedup) const { return top + height - (speedup - 1) / (most - 1) * height; }
};

/// A round number of which an axis of this length holds four to ten.
double tick_of(double length) {
  const double decade = std::pow(10, std::floor(std::log10(length)));
  for (const double step : {0.1, 0.2, 0.5, 1.0})
    if (length / (decade * step) <= 10) return decade * step;
  return decade;
}

std::string axes(const Frame& frame) {
  std::string out;
  constexpr std::string_view line = "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n";
  const double bottom = Frame::top + Frame::height, right = Frame::left + Frame::width;
  for (double v = 0; v <= frame.evaluations * 1.0001; v += tick_of(frame.evaluations)) {
    out += fmt::format(fmt::runtime(line), frame.x(v), Frame::top, frame.x(v), bottom);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", frame.x(v), bottom + 18, v);
  }
  for (double v = 1; v <= frame.most * 1.0001; v += tick_of(frame.most - 1)) {
    out += fmt::format(fmt::runtime(line), Frame::left, frame.y(v), right, frame.y(v));
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.4g}x</text>\n", Frame::left - 6,
                       frame.y(v) + 4, v);
  }
  return out + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">evaluations</text>\n",
                           Frame::left + Frame::width / 2, bottom + 40);
}

} // namespace

double geometric_mean(const std::vector<Curve>& curves, const std::string& driver, size_t evaluations) {
  double sum = 0;
  size_t count = 0;
  for (const Curve& curve : curves) {
    if (curve.driver != driver || !curve.failure.empty()) continue;
    const size_t reached = std::min(evaluations, curve.best.size());
    sum += reached ? std::log(curve.best[reached - 1]) : 0;
    ++count;
  }
  return count ? std::exp(sum / double(count)) : 1;
}

std::string comparison_table(const std::vector<Curve>& curves) {
  const auto kernels = names_of(curves, &Curve::kernel), drivers = names_of(curves, &Curve::driver);
  std::string out = fmt::format("{:<16}", "kernel");
  for (const std::string& driver : drivers) out += fmt::format("  {:<18}", driver);
  out += fmt::format("  bound of what {} found\n", drivers.empty() ? "" : drivers.front());
  for (const std::string& kernel : kernels) {
    out += fmt::format("{:<16}", kernel);
    for (const std::string& driver : drivers) out += fmt::format("  {:<18}", cell(find(curves, kernel, driver)));
    const Curve* first = find(curves, kernel, drivers.front());
    out += fmt::format("  {}\n", first ? first->bound : "");
  }
  out += fmt::format("{:<16}", "geometric mean");
  for (const std::string& driver : drivers) {
    const bool any = std::ranges::any_of(kernels, [&](const std::string& k) { return find(curves, k, driver); });
    out += fmt::format("  {:<18}", any ? fmt::format("{:.3f}x", geometric_mean(curves, driver, SIZE_MAX)) : "-");
  }
  out += "\n(accepted/evaluations behind each speedup)\n";
  for (size_t k = 1; k < drivers.size(); ++k) out += against(curves, drivers.front(), drivers[k]);
  for (const Curve& curve : curves)
    if (!curve.failure.empty()) out += fmt::format("{} by {}: {}\n", curve.kernel, curve.driver, curve.failure);
  return out;
}

nlohmann::json to_json(const std::vector<Curve>& curves) {
  nlohmann::json runs = nlohmann::json::array(), means = nlohmann::json::object();
  for (const Curve& curve : curves) {
    nlohmann::json run = {{"kernel", curve.kernel}, {"driver", curve.driver}};
    if (!curve.failure.empty())
      run["failure"] = curve.failure;
    else
      run.update({{"speedup", curve.speedup()},
                  {"low", curve.low},
                  {"high", curve.high},
                  {"accepted", curve.accepted},
                  {"evaluations", curve.best.size()},
                  {"seconds", curve.seconds},
                  {"bound", curve.bound},
                  {"best", curve.best}});
    runs.push_back(std::move(run));
  }
  for (const std::string& driver : names_of(curves, &Curve::driver))
    means[driver] = geometric_mean(curves, driver, SIZE_MAX);
  return {{"runs", std::move(runs)}, {"geometric_mean", std::move(means)}};
}

std::string comparison_plot(const std::vector<Curve>& curves, const std::string& title) {
  constexpr std::array colours = {"#1764ab", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#666666"};
  const auto drivers = names_of(curves, &Curve::driver);
  Frame frame{.evaluations = double(std::max<size_t>(longest(curves), 1))};
  for (const std::string& driver : drivers)
    frame.most = std::max(frame.most, 1 + (geometric_mean(curves, driver, SIZE_MAX) - 1) * 1.1);
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" font-family="sans-serif" font-size="13">)"
      "\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n<text x=\"{2}\" y=\"24\" font-size=\"16\">{3}</text>\n",
      Frame::left + Frame::width + 30, Frame::top + Frame::height + 60, Frame::left, escaped(title));
  out += axes(frame);
  for (size_t d = 0; d < drivers.size(); ++d) {
    const char* colour = colours[d % colours.size()];
    std::string points = fmt::format("{:.1f},{:.1f}", frame.x(0), frame.y(1));
    for (size_t n = 1; n <= longest(curves); ++n) {
      const double mean = geometric_mean(curves, drivers[d], n);
      points += fmt::format(" {:.1f},{:.1f}", frame.x(double(n)), frame.y(mean));
    }
    out += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{}\"/>\n", colour, points);
    out += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", Frame::left + 12,
                       Frame::top + 20 + 18 * double(d), colour, escaped(drivers[d]));
  }
  return out + "</svg>\n";
}

} // namespace asmevo::report
