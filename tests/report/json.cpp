#include "report/json.h"

#include <gtest/gtest.h>

namespace asmevo::report {
namespace {

TEST(Json, AVerdictHasTimingAndReceiptOnlyWhereItWasEarned) {
  json rejected = to_json(gate::Verdict{.outcome = gate::Outcome::divergence, .evidence = "out[3]"});
  EXPECT_EQ(rejected["outcome"], "divergence");
  EXPECT_FALSE(rejected.contains("timing"));
  EXPECT_FALSE(rejected.contains("receipt"));
  json accepted = to_json(gate::Verdict{.outcome = gate::Outcome::accepted,
                                        .timing = gate::Timing{.speedup = 1.5},
                                        .receipt = gate::Receipt{.case_count = 4}});
  EXPECT_EQ(accepted["timing"]["speedup"], 1.5);
  EXPECT_EQ(accepted["receipt"]["case_count"], 4);
}

TEST(Json, TheRootHasNoParent) {
  EXPECT_TRUE(to_json(search::Version{})["parent"].is_null());
  EXPECT_EQ(to_json(search::Version{.id = 2, .parent = 1})["parent"], 1);
}

TEST(Json, EveryConstantOfTheCommitRuleIsVisible) {
  json info = to_json(search::RunInfo{.epsilon = 0.002, .k = 0.85, .floor = 1, .faster = 0.9, .draws = 16});
  EXPECT_EQ(info["commit_rule"],
            (json{{"epsilon", 0.002}, {"k", 0.85}, {"floor", 1.0}, {"faster", 0.9}, {"draws", 16}}));
}

} // namespace
} // namespace asmevo::report
