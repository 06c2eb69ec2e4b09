// How drivers compare: the best speedup after each evaluation, as a table and as a picture.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace asmevo::report {

/// One kernel searched by one driver.
struct Curve {
  std::string kernel, driver;
  std::vector<double> best; // speedup over K0 after each evaluation; never falls, never below 1
  size_t accepted = 0;      // evaluations that became versions
  double seconds = 0;       // wall time of the search
  double low = 1, high = 1; // 5-95 % of the draws of the best version
  std::string bound;        // what bounds the best version, and how far it is away
  std::string failure;      // why there is no result
  double speedup() const { return best.empty() ? 1 : best.back(); }
};

/// The geometric mean over the kernels of what `driver` had reached after `evaluations`. 1 where it searched none.
double geometric_mean(const std::vector<Curve>& curves, const std::string& driver, size_t evaluations);

/// A row for each kernel, a column for each driver in the order of their first curve; means; and of how many kernels
/// the first driver is at least as good as, and better than, each other.
std::string comparison_table(const std::vector<Curve>& curves);
nlohmann::json to_json(const std::vector<Curve>& curves);

/// SVG: geometric means against evaluations, one line a driver.
std::string comparison_plot(const std::vector<Curve>& curves, const std::string& title);

} // namespace asmevo::report
