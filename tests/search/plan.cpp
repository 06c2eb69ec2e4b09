#include "search/plan.h"

#include <gtest/gtest.h>

namespace asmevo::search {
namespace {

Version version(int64_t id, int64_t parent, double speedup, std::string listing = "") {
  return {.id = id, .parent = parent, .evaluation = id, .listing = std::move(listing), .speedup = speedup};
}

class PlanTest : public testing::Test {
protected:
  /// Two windows: one waits for memory, the other issues.
  PlanTest() {
    auto at = std::make_shared<Standpoint>();
    profile::Window waits{.cost = 70}, issues{.cost = 30, .issuing = 30};
    waits.stalls[size_t(profile::Reason::vmcnt)] = 70;
    at->windows = {{{10, 20}, waits, 111}, {{20, 30}, issues, 222}};
    standpoint = at;
  }
  Round next(Plan& plan) {
    auto round = plan.next(versions, memory,
                           [this](int64_t) -> Result<std::shared_ptr<const Standpoint>> { return standpoint; });
    EXPECT_TRUE(round);
    return round ? *round : Round{};
  }
  void refuse(Plan& plan, size_t worker, int count) {
    for (int k = 0; k < count; ++k) plan.settled(worker, nullptr, 1);
  }

  std::shared_ptr<const Standpoint> standpoint;
  std::vector<Version> versions = {version(0, -1, 1)};
  Memory memory;
};

TEST_F(PlanTest, BeginsAtTheOriginalWithTheWholeKernel) {
  Plan plan({});
  const Round round = next(plan);
  ASSERT_EQ(round.turns.size(), 1u);
  EXPECT_EQ(round.turns[0].version, 0);
  EXPECT_FALSE(round.turns[0].focus.window);
  EXPECT_EQ(round.turns[0].length, PlanSettings{}.turn);
  EXPECT_TRUE(round.decisions.empty());
}

TEST_F(PlanTest, AfterEvaluationsWithoutACommitTheBottleneckIsTakenIntoFocus) {
  Plan plan({.stall = 4});
  next(plan);
  refuse(plan, 0, 3);
  EXPECT_TRUE(next(plan).decisions.empty());
  refuse(plan, 0, 1);
  const Round round = next(plan);
  ASSERT_EQ(round.decisions.size(), 1u);
  EXPECT_EQ(round.decisions[0].kind, DecisionKind::redirect);
  EXPECT_EQ(round.turns[0].focus.window, (Range{10, 20}));
  EXPECT_EQ(round.turns[0].focus.direction, Direction::latency_hiding);
  EXPECT_EQ(round.decisions[0].reason, "4 evaluations without a commit; items [10, 20) are window 1 by modelled time, "
                                       "bound by vmcnt, and 0 of 0 refusals there were latency-hiding");
}

TEST_F(PlanTest, WhereMuchHasFailedIsNotWhereAStalledWorkerIsSent) {
  for (int k = 0; k < 9; ++k)
    memory.note(
        {.window = 111, .direction = Direction::latency_hiding, .outcome = gate::Outcome::divergence, .count = 1});
  Plan plan({.stall = 4});
  next(plan);
  refuse(plan, 0, 4);
  EXPECT_NE(next(plan).turns[0].focus.direction, Direction::latency_hiding);
}

TEST_F(PlanTest, AfterMovesWithoutACommitAnotherVersionIsTriedAndALaterCommitStartsAfresh) {
  versions.push_back(version(1, 0, 1.5));
  Plan plan({.stall = 4, .patience = 1});
  next(plan);
  plan.settled(0, &versions[1], 1);
  EXPECT_EQ(next(plan).turns[0].version, 1);
  refuse(plan, 0, 4);
  EXPECT_EQ(next(plan).decisions.at(0).kind, DecisionKind::redirect);
  refuse(plan, 0, 4);
  Round round = next(plan);
  ASSERT_EQ(round.decisions.size(), 1u);
  EXPECT_EQ(round.decisions[0].kind, DecisionKind::backtrack);
  EXPECT_EQ(round.turns[0].version, 0);
  EXPECT_FALSE(round.turns[0].focus.window);
  versions.push_back(version(2, 0, 1.2));
  plan.settled(0, &versions[2], 1);
  round = next(plan);
  EXPECT_TRUE(round.decisions.empty());
  EXPECT_EQ(round.turns[0].version, 2);
}

TEST_F(PlanTest, WithoutIdeasAnywhereThereAreNoTurns) {
  versions.push_back(version(1, 0, 1.5));
  Plan plan({});
  next(plan);
  plan.exhausted(0);
  EXPECT_EQ(next(plan).turns.at(0).version, 1);
  plan.exhausted(0);
  EXPECT_TRUE(next(plan).turns.empty());
  versions.push_back(version(2, 0, 1.2)); // another worker's, or merged
  EXPECT_EQ(next(plan).turns.at(0).version, 2);
}

TEST_F(PlanTest, OutOfIdeasForAWindowTheWholeVersionIsAskedForBeforeAnother) {
  versions.push_back(version(1, 0, 0.9));
  Plan plan({.stall = 4});
  next(plan);
  refuse(plan, 0, 4);
  ASSERT_TRUE(next(plan).turns[0].focus.window);
  plan.exhausted(0);
  const Round round = next(plan);
  EXPECT_EQ(round.turns[0].version, 0);
  EXPECT_FALSE(round.turns[0].focus.window);
}

TEST_F(PlanTest, ATeamHasADirectionForEachWorker) {
  Plan plan({.team = 5});
  std::set<Direction> directions;
  for (const Turn& turn : next(plan).turns) directions.insert(turn.focus.direction.value());
  EXPECT_EQ(directions.size(), 5u);
}

TEST_F(PlanTest, AWorkerThatIsDoneGoesToTheVersionThatIsUnlikeTheOthers) {
  versions = {version(0, -1, 1, "a:\ns_nop 1\nb:\ns_nop 2\n"), version(1, 0, 1.1, "a:\ns_nop 1\nb:\ns_nop 3\n"),
              version(2, 0, 1.1, "a:\ns_nop 4\nb:\ns_nop 5\n")};
  Plan plan({.team = 2});
  next(plan);
  plan.move(0, 1);
  for (size_t k = 0; k < direction_count + 1; ++k) { // all directions, then any
    plan.exhausted(1);
    const Round round = next(plan);
    if (round.turns.at(1).version == 0) continue;
    EXPECT_EQ(round.turns[1].version, 2);
    return;
  }
  ADD_FAILURE() << "it stays where it has no ideas";
}

TEST_F(PlanTest, EvaluationsGoWhereTheyPaid) {
  versions.push_back(version(1, 0, 1.5));
  Plan plan({.team = 2, .turn = 16});
  Round round = next(plan);
  EXPECT_EQ(round.turns[0].length, round.turns[1].length);
  plan.settled(0, &versions[1], 1);
  refuse(plan, 1, 16);
  round = next(plan);
  EXPECT_GT(round.turns[0].length, 2 * round.turns[1].length);
  EXPECT_GE(round.turns[1].length, 4);
  EXPECT_EQ(round.decisions.at(0).kind, DecisionKind::share);
}

} // namespace
} // namespace asmevo::search
