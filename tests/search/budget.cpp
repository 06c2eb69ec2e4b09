#include "search/budget.h"

#include <gtest/gtest.h>

namespace asmevo::search {
namespace {

TEST(Budget, EvaluationsTimesAndBothAreUnderstood) {
  EXPECT_EQ(parse_budget("200")->evaluations, 200);
  EXPECT_EQ(parse_budget("90s")->seconds, 90);
  EXPECT_EQ(parse_budget("10m")->seconds, 600);
  EXPECT_EQ(parse_budget("2h")->seconds, 7200);
  auto both = parse_budget("10m,200");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->evaluations, 200);
  EXPECT_EQ(both->seconds, 600);
}

TEST(Budget, AnythingElseIsAnError) {
  for (const char* text : {"", "0", "-3", "ten", "10d", "10,20", "1m,2m", "10,", "1e3", "99999999999999999999"})
    EXPECT_FALSE(parse_budget(text)) << text;
}

TEST(Budget, WhicheverEndsFirstEndsIt) {
  Budget budget{.evaluations = 10, .seconds = 5};
  EXPECT_FALSE(budget.spent(9, 4.9));
  EXPECT_TRUE(budget.spent(10, 0));
  EXPECT_TRUE(budget.spent(0, 5));
  EXPECT_FALSE(Budget{}.spent(1000000, 1e9));
}

} // namespace
} // namespace asmevo::search
