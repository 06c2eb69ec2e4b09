// Predicted against measured, both logarithmic, as an SVG picture that needs no script and no font of its own.
#pragma once

#include <string>
#include <vector>

namespace asmevo::bench {

struct Point {
  double measured = 0, predicted = 0; // the same unit, above 0
  std::string label;                  // shown when pointed at
  bool test = false;                  // not used in a fit
};

/// `unit` of both axes. On the diagonal the model is right; the band is 20 % to either side. Every point has its label
/// as a tooltip.
std::string scatter_plot(const std::vector<Point>& points, const std::string& title, const std::string& unit);

} // namespace asmevo::bench
