#include "search/drivers.h"

#include "driver_fixture.h"
#include "rewrite_timed.h"
#include "search/lineage.h"
#include "search/model.h"

#include <algorithm>
#include <ranges>

using namespace asmevo;
using namespace asmevo::search;
using namespace asmevo::search::rewrite::testing;

namespace {

/// Two pairs of loads that merge, and an addition made twice. It runs.
constexpr const char* running = "v_lshlrev_b32_e32 v0, 4, v0\n"
                                "global_load_dword v2, v0, s[0:1]\n"
                                "global_load_dword v3, v0, s[0:1] offset:4\n"
                                "global_load_dword v6, v0, s[0:1] offset:64\n"
                                "global_load_dword v7, v0, s[0:1] offset:68\n"
                                "s_waitcnt vmcnt(0)\n"
                                "v_add_u32_e32 v4, v2, v3\n"
                                "v_add_u32_e32 v5, v2, v3\n"
                                "v_add_u32_e32 v8, v6, v7\n"
                                "v_add_u32_e32 v9, v6, v7\n"
                                "v_xor_b32_e32 v4, v4, v5\n"
                                "v_mul_lo_u32 v8, v8, v9\n"
                                "v_xor_b32_e32 v4, v4, v8\n"
                                "global_store_dword v0, v4, s[0:1] offset:2048\n"
                                "s_endpgm\n";

std::vector<Proposal> all_of(Driver& driver, const State& state) {
  std::mt19937_64 random;
  std::vector<Proposal> proposals;
  while (auto proposal = driver.propose(state, random)) proposals.push_back(*std::move(proposal));
  return proposals;
}

std::vector<std::string> rules_of(const std::vector<Proposal>& proposals) {
  std::vector<std::string> rules;
  for (const Proposal& proposal : proposals) rules.push_back(proposal.rule);
  return rules;
}

std::unique_ptr<Driver> rewrite_driver() { return std::move(*make_driver({.name = "rewrite"})); }

TEST(RewriteDriver, EveryProposalHasADirectionAndStaysInItsWindow) {
  const recover::Program program = program_of(body);
  const auto proposals = all_of(*rewrite_driver(), state_of(program));
  ASSERT_GE(proposals.size(), 2u);
  for (const Proposal& proposal : proposals) {
    EXPECT_TRUE(proposal.direction) << proposal.rule;
    for (const recover::Edit& edit : proposal.edits) EXPECT_TRUE(proposal.window && proposal.window->contains(edit));
  }
}

TEST(RewriteDriver, ADirectionInFocusLeavesOutTheOthersUntilItIsLifted) {
  const recover::Program program = program_of(body);
  const auto driver = rewrite_driver();
  State state = state_of(program);
  state.focus.direction = Direction::memory_access;
  EXPECT_EQ(rules_of(all_of(*driver, state)), std::vector<std::string>{"merge-memory"});
  state.focus.direction.reset();
  const auto rest = all_of(*driver, state);
  EXPECT_FALSE(rest.empty());
  for (const Proposal& proposal : rest) EXPECT_NE(proposal.direction, Direction::memory_access);
}

TEST(RewriteDriver, AWindowInFocusLeavesOutWhatDoesNotChangeIt) {
  const recover::Program program = program_of(body);
  State state = state_of(program);
  state.focus.window = Range{state.function->last - 3, state.function->last};
  EXPECT_TRUE(all_of(*rewrite_driver(), state).empty());
}

TEST(RewriteDriver, ACopyGoesOnAsTheOriginalDoes) {
  const recover::Program program = program_of(body);
  const State state = state_of(program);
  const auto driver = rewrite_driver();
  std::mt19937_64 random;
  ASSERT_TRUE(driver->propose(state, random));
  const auto copy = driver->clone();
  ASSERT_TRUE(copy);
  EXPECT_EQ(rules_of(all_of(*copy, state)), rules_of(all_of(*driver, state)));
}

TEST(RewriteDriver, WhatAnAcceptedBundleContainsIsNotProposedAlone) {
  const recover::Program program = program_of(running);
  const State state = state_of(program);
  const auto driver = rewrite_driver(), other = rewrite_driver();
  std::mt19937_64 random;
  const auto bundle = driver->propose(state, random), same = other->propose(state, random);
  ASSERT_TRUE(bundle && same);
  ASSERT_EQ(bundle->rule, "several-rules");
  driver->learn(*bundle, {.outcome = gate::Outcome::accepted});
  other->learn(*same, {.outcome = gate::Outcome::insufficient_speedup});
  const auto rest = rules_of(all_of(*driver, state)), all = rules_of(all_of(*other, state));
  EXPECT_LT(rest.size(), all.size());
  EXPECT_TRUE(std::ranges::count(all, "merge-memory"));
  EXPECT_FALSE(std::ranges::count(rest, "merge-memory"));
  // Bundles that leave something out show whether it was of use.
  EXPECT_TRUE(std::ranges::count(rest, "several-rules"));
}

/// Likes short programs, and counts how often it is asked.
class Shortest : public Model {
public:
  std::optional<double> seconds(const recover::Program& program) override {
    ++asked;
    return double(program.items.size());
  }
  int asked = 0;
};

TEST(RewriteDriver, WhatTheModelLikesBestComesFirstOfTheOriginalAndLastOfOthers) {
  const Timed timed(running);
  Shortest model;
  State state = timed.state();
  state.model = &model;
  const auto of_original = all_of(*rewrite_driver(), state);
  ASSERT_GT(model.asked, 2);
  state.version = root_version + 1;
  const auto of_other = all_of(*rewrite_driver(), state);

  const auto length_with = [&](const Proposal& proposal) {
    return recover::apply(timed.program, proposal.edits, codec())->items.size();
  };
  const auto shortest = std::ranges::min(of_original | std::views::transform(length_with));
  EXPECT_LT(shortest, timed.program.items.size());
  EXPECT_EQ(length_with(of_original.front()), shortest);
  EXPECT_GT(length_with(of_other.front()), shortest);
  EXPECT_TRUE(std::ranges::any_of(of_other, [&](const Proposal& p) { return length_with(p) == shortest; }));
}

TEST(RewriteDriver, TheModelIsAskedOnceForAProgramAndItsCopiesKnow) {
  const Timed timed(running);
  Shortest model;
  State state = timed.state();
  state.model = &model;
  const auto driver = rewrite_driver();
  const auto copy = driver->clone();
  const auto proposals = all_of(*driver, state);
  const int asked = model.asked;
  EXPECT_EQ(rules_of(all_of(*copy, state)), rules_of(proposals));
  EXPECT_EQ(model.asked, asked);
}

TEST(RewriteDriver, WhatIsBehindTheFastestVersionComesLastAndIsLittle) {
  const Timed timed(running);
  Shortest model;
  State state = timed.state();
  state.model = &model;
  state.version = root_version + 1;
  const auto all = all_of(*rewrite_driver(), state);
  ASSERT_GT(all.size(), 2u);
  state.best_speedup = 10; // no sequence of rules comes near
  const auto behind = all_of(*rewrite_driver(), state);
  EXPECT_EQ(behind.size(), 2u);
  const auto length_with = [&](const Proposal& proposal) {
    return recover::apply(timed.program, proposal.edits, codec())->items.size();
  };
  EXPECT_LE(length_with(behind[0]), length_with(behind[1]));
}

TEST(RewriteDriver, WhatTheModelSaysIsSlowerIsNotProposed) {
  class Longest : public Shortest {
  public:
    std::optional<double> seconds(const recover::Program& program) override { return 1 / *Shortest::seconds(program); }
  };
  const Timed timed(running);
  Longest model;
  State state = timed.state();
  ASSERT_FALSE(all_of(*rewrite_driver(), state).empty());
  state.model = &model;
  for (const Proposal& proposal : all_of(*rewrite_driver(), state))
    EXPECT_GE(recover::apply(timed.program, proposal.edits, codec())->items.size(), timed.program.items.size())
        << proposal.rationale;
}

TEST(RewriteDriver, AFocusAsksTheModelForNoBeam) {
  const Timed timed(running);
  Shortest model;
  State state = timed.state();
  state.model = &model;
  state.focus.direction = Direction::memory_access;
  const auto focused = all_of(*rewrite_driver(), state);
  EXPECT_FALSE(focused.empty());
  for (const Proposal& proposal : focused) EXPECT_EQ(proposal.direction, Direction::memory_access);
}

} // namespace
