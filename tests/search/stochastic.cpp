#include "recover/recover.h"
#include "search/drivers.h"
#include "search/drivers/stochastic/moves.h"

#include "rewrite_fixture.h"

#include <set>

using namespace asmevo;
using namespace asmevo::search;
using namespace asmevo::search::rewrite::testing;

namespace {

constexpr const char* body = "v_mov_b32_e32 v2, 1\n"
                             "v_add_u32_e32 v3, v2, v4\n"
                             "v_mul_lo_u32 v5, v3, v2\n"
                             "v_xor_b32_e32 v6, v5, v3\n"
                             "global_store_dword v[0:1], v6, off\n"
                             "s_endpgm\n";

State state_of(const recover::Program& program) {
  return {.program = &program, .function = &program.functions.front(), .codec = &codec()};
}

std::unique_ptr<Driver> driver_named(const std::string& name) {
  auto driver = make_driver({.name = name});
  EXPECT_TRUE(driver);
  return std::move(*driver);
}

std::string candidate_of(const recover::Program& program, const Proposal& proposal) {
  const auto after = recover::apply(program, proposal.edits, codec());
  return after ? text_of(*after) : "(does not assemble)";
}

gate::Verdict slower(double speedup) {
  return {.outcome = gate::Outcome::insufficient_speedup, .timing = gate::Timing{.speedup = speedup}};
}

} // namespace

TEST(StochasticMoves, AreOfEveryKindAndAssemble) {
  const recover::Program program = program_of(body);
  const rewrite::Facts facts = facts_of(program);
  const std::vector<double> heat = stochastic::block_heat(facts);
  std::mt19937_64 random(1);
  std::set<std::string_view> kinds;
  std::set<std::string> texts;
  for (int k = 0; k < 200; ++k)
    if (const auto move = stochastic::random_move(facts, heat, random)) {
      kinds.insert(move->kind);
      texts.insert(text_of(move->program));
      EXPECT_TRUE(text_of(move->program).ends_with("s_endpgm\n"));
    }
  EXPECT_EQ(kinds.size(), 4u);
  EXPECT_GT(texts.size(), 30u);
}

TEST(StochasticDrivers, ProposeTheSameForTheSameSeedAndNothingTwice) {
  const recover::Program program = program_of(body);
  for (const char* name : {"random", "mcmc"}) {
    const auto one = driver_named(name), other = driver_named(name);
    std::set<std::string> seen;
    for (uint64_t number = 0; number < 12; ++number) {
      std::mt19937_64 a(number), b(number);
      const auto proposal = one->propose(state_of(program), a), again = other->propose(state_of(program), b);
      ASSERT_TRUE(proposal && again) << name;
      EXPECT_EQ(candidate_of(program, *proposal), candidate_of(program, *again));
      std::string edits;
      for (const recover::Edit& e : proposal->edits) edits += fmt::format("{}-{}:{}\n", e.first, e.last, e.text);
      EXPECT_TRUE(seen.insert(edits).second) << name << "\n" << edits;
      one->learn(*proposal, slower(1));
      other->learn(*again, slower(1));
    }
  }
}

TEST(McmcDriver, GoesOnFromWhatCostsLessAndLeavesWhatCostsMuchMore) {
  const recover::Program program = program_of(body);
  // How many lines the ten changes after the first one touch: its own too where that was taken.
  const auto touched_after = [&](double speedup) {
    const auto driver = driver_named("mcmc");
    std::mt19937_64 random(7);
    size_t lines = 0;
    for (int k = 0; k < 11; ++k) {
      const auto proposal = driver->propose(state_of(program), random);
      EXPECT_TRUE(proposal);
      if (!proposal) return lines;
      driver->learn(*proposal, slower(k == 0 ? speedup : 0.0001));
      for (const recover::Edit& e : proposal->edits) lines += k == 0 ? 0 : e.last - e.first + 1;
    }
    return lines;
  };
  EXPECT_GT(touched_after(1.5), touched_after(0.01));
}

TEST(McmcDriver, BeginsAnewWhereNothingIsLeft) {
  const recover::Program program = program_of("v_mov_b32_e32 v2, 1\nv_mov_b32_e32 v3, 2\nv_mov_b32_e32 v4, 3\n"
                                              "s_endpgm\n");
  const auto driver = driver_named("mcmc");
  for (uint64_t number = 0; number < 12; ++number) {
    std::mt19937_64 random(number);
    const auto proposal = driver->propose(state_of(program), random);
    ASSERT_TRUE(proposal) << number;
    driver->learn(*proposal, slower(1.1));
  }
}
