#include "report/curves.h"

#include <gtest/gtest.h>

using namespace asmevo::report;

namespace {

std::vector<Curve> some_curves() {
  return {{.kernel = "a", .driver = "rules", .best = {1, 2, 2}, .accepted = 1, .bound = "valu"},
          {.kernel = "a", .driver = "luck", .best = {1, 1.5}},
          {.kernel = "b", .driver = "rules", .best = {8}, .accepted = 1},
          {.kernel = "b", .driver = "luck", .failure = "b.json: no such <file>"}};
}

} // namespace

TEST(Curves, MeansTakeASearchThatEndedEarlyForWhatItHadReached) {
  const auto curves = some_curves();
  EXPECT_DOUBLE_EQ(geometric_mean(curves, "rules", 0), 1);
  EXPECT_NEAR(geometric_mean(curves, "rules", 1), std::sqrt(8), 1e-12);
  EXPECT_NEAR(geometric_mean(curves, "rules", 100), 4, 1e-12);
  EXPECT_DOUBLE_EQ(geometric_mean(curves, "luck", 100), 1.5); // the kernel that failed does not count
  EXPECT_DOUBLE_EQ(geometric_mean(curves, "nobody", 100), 1);
}

TEST(Curves, TheTableComparesTheFirstDriverWithTheOthersWhereBothSearched) {
  const std::string table = comparison_table(some_curves());
  EXPECT_NE(table.find("2.000x (1/3)"), table.npos) << table;
  EXPECT_NE(table.find("rules is better than luck on 1 of 1 kernels, equal on 0"), table.npos) << table;
  EXPECT_NE(table.find("b by luck: b.json"), table.npos) << table;
}

TEST(Curves, TheDocumentHoldsEveryCurveAndEveryFailure) {
  const auto document = to_json(some_curves());
  EXPECT_EQ(document["runs"].size(), 4u);
  EXPECT_EQ(document["runs"][0]["best"], nlohmann::json({1.0, 2.0, 2.0}));
  EXPECT_FALSE(document["runs"][3].contains("speedup"));
  EXPECT_NEAR(document["geometric_mean"]["rules"].get<double>(), 4, 1e-12);
}

TEST(Curves, ThePlotHasALineForEachDriverAndNamesAreEscaped) {
  const std::string svg = comparison_plot({{.kernel = "k", .driver = "a<b", .best = {1, 1.2}}}, "x & y");
  EXPECT_NE(svg.find("a&lt;b"), svg.npos);
  EXPECT_NE(svg.find("x &amp; y"), svg.npos);
  EXPECT_NE(svg.find("<polyline"), svg.npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_FALSE(comparison_plot({}, "nothing").empty());
}
