#include "gate/commit.h"

#include <gtest/gtest.h>

namespace asmevo::gate {
namespace {

timing::Estimate estimate(std::vector<double> seconds) {
  timing::Estimate e;
  e.seconds = std::move(seconds);
  return e;
}

TEST(Commit, SpeedupIsTheRatioOfMedians) {
  auto timing = compare(estimate({3, 1, 2}), estimate({1, 0.5, 2}), "simulated MI300X");
  ASSERT_TRUE(timing);
  EXPECT_DOUBLE_EQ(timing->original_seconds, 2);
  EXPECT_DOUBLE_EQ(timing->candidate_seconds, 1);
  EXPECT_DOUBLE_EQ(timing->speedup, 2);
  EXPECT_EQ(timing->device, "simulated MI300X");
}

TEST(Commit, SpreadIsThatOfThePairedSpeedups) {
  // Times differ tenfold between draws, the speedup never does.
  auto timing = compare(estimate({1, 10, 5}), estimate({0.5, 5, 2.5}), "d");
  ASSERT_TRUE(timing);
  EXPECT_DOUBLE_EQ(timing->cv, 0);
  EXPECT_DOUBLE_EQ(timing->low, 2);
  EXPECT_DOUBLE_EQ(timing->high, 2);
  auto spread = compare(estimate({1, 1, 1}), estimate({0.5, 1, 2}), "d");
  ASSERT_TRUE(spread);
  EXPECT_NEAR(spread->cv, 0.65465, 1e-5); // of 2, 1, 0.5
}

TEST(Commit, UnpairedOrImpossibleTimesAreErrors) {
  EXPECT_FALSE(compare(estimate({1, 2}), estimate({1}), "d"));
  EXPECT_FALSE(compare(estimate({}), estimate({}), "d"));
  EXPECT_FALSE(compare(estimate({1}), estimate({0}), "d"));
}

TEST(Commit, RequiredSpeedupGrowsWithParentAndSpread) {
  CommitRule rule;
  EXPECT_DOUBLE_EQ(required_speedup(rule, 1, 0), 1.002);
  EXPECT_DOUBLE_EQ(required_speedup(rule, 2, 0.1), 2 * 1.085);
  rule.floor = 3;
  EXPECT_DOUBLE_EQ(required_speedup(rule, 2, 0.1), 3);
}

TEST(Commit, GainBelowEpsilonIsInsufficient) {
  Timing timing{.speedup = 1.0019, .cv = 0};
  EXPECT_EQ(judge({}, timing, 1), Outcome::insufficient_speedup);
  timing.speedup = 1.002;
  EXPECT_EQ(judge({}, timing, 1), Outcome::accepted);
}

TEST(Commit, GainInsideItsSpreadIsUnstable) {
  Timing timing{.speedup = 1.05, .cv = 0.1};
  EXPECT_EQ(judge({}, timing, 1), Outcome::timing_unstable);
  timing.cv = 0.05;
  EXPECT_EQ(judge({}, timing, 1), Outcome::accepted);
}

TEST(Commit, GainThatVanishesInSomeDrawsIsUnstable) {
  // Twice as fast in the middle of the error bars, slower at one end of them.
  auto timing = compare(estimate({1, 1, 1, 1, 1}), estimate({0.5, 0.5, 0.5, 0.5, 1.1}), "d");
  ASSERT_TRUE(timing);
  EXPECT_DOUBLE_EQ(timing->faster, 0.8);
  EXPECT_EQ(judge({.k = 0}, *timing, 1), Outcome::timing_unstable);
  EXPECT_EQ(judge({.k = 0, .faster = 0.8}, *timing, 1), Outcome::accepted);
}

TEST(Commit, ParentSetsTheBar) {
  Timing timing{.speedup = 1.2, .cv = 0};
  EXPECT_EQ(judge({}, timing, 1.1), Outcome::accepted);
  EXPECT_EQ(judge({}, timing, 1.2), Outcome::insufficient_speedup);
}

} // namespace
} // namespace asmevo::gate
