#include "recover/recover.h"
#include "search/drivers.h"

#include "driver_fixture.h"

#include <set>

using namespace asmevo;
using namespace asmevo::search;
using namespace asmevo::search::rewrite::testing;

namespace {

std::unique_ptr<Driver> planner() { return std::move(*make_driver({.name = "mcts"})); }

std::string edits_of(const Proposal& proposal) {
  std::string text;
  for (const recover::Edit& e : proposal.edits) text += fmt::format("{}-{}:{}\n", e.first, e.last, e.text);
  return text;
}

gate::Verdict timed(double speedup) {
  return {.outcome = gate::Outcome::insufficient_speedup, .timing = gate::Timing{.speedup = speedup}};
}

/// Everything it proposes when `judge` says what each is worth.
template <class Judge> std::vector<Proposal> all_of(Driver& driver, const State& state, uint64_t seed, Judge judge) {
  std::mt19937_64 random(seed);
  std::vector<Proposal> proposals;
  while (auto proposal = driver.propose(state, random)) {
    driver.learn(*proposal, judge(*proposal));
    proposals.push_back(*std::move(proposal));
    if (proposals.size() > 500) break;
  }
  return proposals;
}

gate::Verdict no_better(const Proposal&) { return timed(1); }
gate::Verdict wrong(const Proposal&) { return {.outcome = gate::Outcome::divergence}; }

} // namespace

TEST(MctsDriver, ProposesTheSameForTheSameSeedAndNoProgramTwice) {
  const recover::Program program = program_of(body);
  const auto one = all_of(*planner(), state_of(program), 3, no_better);
  const auto again = all_of(*planner(), state_of(program), 3, no_better);
  ASSERT_EQ(one.size(), again.size());
  ASSERT_GE(one.size(), 4u);
  std::set<std::string> texts;
  for (size_t k = 0; k < one.size(); ++k) {
    EXPECT_EQ(edits_of(one[k]), edits_of(again[k]));
    const auto after = recover::apply(program, one[k].edits, codec());
    ASSERT_TRUE(after);
    EXPECT_TRUE(texts.insert(text_of(*after)).second) << text_of(*after);
  }
}

TEST(MctsDriver, ASequenceIsOneProposalOfTheVersionItBeganAt) {
  const recover::Program program = program_of(body);
  const auto proposals = all_of(*planner(), state_of(program), 3, no_better);
  const auto sequence = std::ranges::find(proposals, "several-rules", &Proposal::rule);
  ASSERT_NE(sequence, proposals.end());
  EXPECT_NE(sequence->rationale.find(", then "), std::string::npos) << sequence->rationale;
  // One of them merges the loads and computes the sum once.
  const bool both = std::ranges::any_of(proposals, [&](const Proposal& proposal) {
    const auto after = recover::apply(program, proposal.edits, codec());
    const std::string text = after ? text_of(*after) : "";
    return text.find("dwordx2") != std::string::npos && text.find("v_add_u32") == text.rfind("v_add_u32");
  });
  EXPECT_TRUE(both);
}

TEST(MctsDriver, GoesNoFurtherFromAProgramThatIsWrong) {
  const recover::Program program = program_of(body);
  for (const Proposal& proposal : all_of(*planner(), state_of(program), 3, wrong))
    EXPECT_NE(proposal.rule, "several-rules") << proposal.rationale;
}

TEST(MctsDriver, GoesOnFirstFromWhatPaid) {
  const recover::Program program = program_of(body);
  // Of the rules that apply, one pays: sequences that begin with it come first.
  for (const std::string paid : {"merge-memory", "remove-duplicates"}) {
    const auto judge = [&](const Proposal& p) { return timed(p.rationale.starts_with(paid) ? 1.1 : 0.9); };
    const auto proposals = all_of(*planner(), state_of(program), 3, judge);
    const auto sequence = std::ranges::find(proposals, "several-rules", &Proposal::rule);
    ASSERT_NE(sequence, proposals.end());
    EXPECT_TRUE(sequence->rationale.starts_with(paid)) << sequence->rationale;
  }
}

TEST(MctsDriver, ADirectionInFocusHoldsForEveryMove) {
  const recover::Program program = program_of(body);
  State state = state_of(program);
  state.focus.direction = Direction::memory_access;
  const auto proposals = all_of(*planner(), state, 3, no_better);
  ASSERT_FALSE(proposals.empty());
  for (const Proposal& proposal : proposals) EXPECT_EQ(proposal.direction, Direction::memory_access);
  EXPECT_LT(proposals.size(), all_of(*planner(), state_of(program), 3, no_better).size());
}

TEST(MctsDriver, AWindowInFocusIsChangedByEveryProposal) {
  const recover::Program program = program_of(body);
  State state = state_of(program);
  state.focus.window = Range{state.function->first + 1, state.function->first + 3}; // the loads
  const auto proposals = all_of(*planner(), state, 3, no_better);
  ASSERT_FALSE(proposals.empty());
  for (const Proposal& proposal : proposals)
    EXPECT_TRUE(std::ranges::any_of(proposal.edits, [&](const auto& e) { return state.focus.window->meets(e); }));
  state.focus.window = Range{state.function->last - 2, state.function->last}; // nothing to do there
  EXPECT_TRUE(all_of(*planner(), state, 3, no_better).empty());
}

TEST(MctsDriver, EveryProposalStaysInItsWindow) {
  const recover::Program program = program_of(body);
  for (const Proposal& proposal : all_of(*planner(), state_of(program), 3, no_better))
    for (const recover::Edit& edit : proposal.edits) EXPECT_TRUE(proposal.window && proposal.window->contains(edit));
}

TEST(MctsDriver, WhatWasJudgedOnceIsNotProposedForAnotherFocus) {
  const recover::Program program = program_of(body);
  const auto driver = planner();
  State state = state_of(program);
  state.focus.direction = Direction::memory_access;
  std::set<std::string> seen;
  for (const Proposal& proposal : all_of(*driver, state, 3, no_better)) seen.insert(edits_of(proposal));
  ASSERT_FALSE(seen.empty());
  state.focus.direction.reset();
  const auto rest = all_of(*driver, state, 3, no_better);
  EXPECT_FALSE(rest.empty());
  for (const Proposal& proposal : rest) EXPECT_TRUE(seen.insert(edits_of(proposal)).second) << edits_of(proposal);
}
