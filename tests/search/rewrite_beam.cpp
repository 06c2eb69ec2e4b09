#include "search/drivers/rewrite/beam.h"

#include "rewrite_fixture.h"

#include <algorithm>
#include <functional>

using namespace asmevo;
using namespace asmevo::search;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// Loads that merge, an addition made twice, a branch around little.
constexpr const char* several = "global_load_dword v2, v[0:1], off\n"
                                "global_load_dword v3, v[0:1], off offset:4\n"
                                "s_waitcnt vmcnt(0)\n"
                                "v_add_u32_e32 v4, v2, v3\n"
                                "v_add_u32_e32 v5, v2, v3\n"
                                "v_xor_b32_e32 v6, v4, v5\n"
                                "s_and_saveexec_b64 s[2:3], vcc\n"
                                "s_cbranch_execz .Lone\n"
                                "v_add_u32_e32 v6, 1, v6\n"
                                ".Lone:\n"
                                "s_or_b64 exec, exec, s[2:3]\n"
                                "global_store_dword v[0:1], v6, off\n"
                                "s_endpgm\n";

/// What a test wants programs to cost.
class Said : public Model {
public:
  explicit Said(std::function<std::optional<double>(const std::string&)> cost) : cost_(std::move(cost)) {}
  std::optional<double> seconds(const recover::Program& program) override {
    ++asked;
    return cost_(text_of(program));
  }
  size_t asked = 0;

private:
  std::function<std::optional<double>(const std::string&)> cost_;
};

bool is_merged(const std::string& text) { return text.find("dwordx2 v") != std::string::npos; }
bool has_skip(const std::string& text) { return text.find("s_cbranch_execz") != std::string::npos; }
struct Search {
  explicit Search(Said& model, BeamLimits limits = {})
      : program(program_of(several)), facts(facts_of(program)), workshop(facts, known) {
    ranked = beam(facts, workshop, model, modelled, limits);
  }
  std::string best() const { return ranked.empty() ? "(nothing)" : text_of(*ranked.front().draft.program); }

  recover::Program program;
  Facts facts;
  KnownSteps known;
  Workshop workshop;
  Modelled modelled;
  std::vector<Ranked> ranked;
};

} // namespace

TEST(Beam, ARuleThatLosesIsLeftOut) {
  Said model([](const std::string& text) { return 10.0 - 2 * is_merged(text) + 3 * !has_skip(text); });
  const Search search(model);
  EXPECT_TRUE(is_merged(search.best())) << search.best();
  EXPECT_TRUE(has_skip(search.best())) << search.best();
  EXPECT_EQ(search.ranked.front().seconds, 8);
}

TEST(Beam, ARuleThatLosesAloneIsKeptForOneThatWinsWithIt) {
  // Either alone costs more than neither: who takes one step at a time stays where he is.
  Said model([](const std::string& text) {
    const bool merged = is_merged(text), skips = has_skip(text);
    return merged && !skips ? 5.0 : merged || !skips ? 11.0 : 10.0;
  });
  const Search search(model);
  EXPECT_EQ(search.ranked.front().seconds, 5) << search.best();
}

TEST(Beam, OfRulesThatDoNotGoTogetherTheBetterIsTaken) {
  Said model([](const std::string& text) {
    const bool merged = is_merged(text), skips = has_skip(text);
    return merged && !skips ? 12.0 : merged ? 9.0 : !skips ? 7.0 : 10.0;
  });
  const Search search(model);
  EXPECT_EQ(search.ranked.front().seconds, 7) << search.best();
}

TEST(Beam, WhatTheModelCannotTimeIsNotThere) {
  Said model([](const std::string& text) -> std::optional<double> {
    if (is_merged(text)) return std::nullopt;
    return has_skip(text) ? 10.0 : 9.0;
  });
  const Search search(model);
  ASSERT_FALSE(search.ranked.empty());
  for (const Ranked& one : search.ranked) EXPECT_FALSE(is_merged(text_of(*one.draft.program)));
  EXPECT_EQ(search.ranked.front().seconds, 9);
}

TEST(Beam, TheModelIsAskedForEachProgramOnceAndForNoMoreThanItMay) {
  Said model([](const std::string& text) { return double(text.size()); }), strict = model;
  const Search search(model);
  EXPECT_EQ(model.asked, search.ranked.size() + 1); // the original
  ASSERT_GT(model.asked, 4u);
  Search again(strict, {.programs = 4});
  EXPECT_LE(strict.asked, 4u);
  // Knowing more makes no difference.
  Modelled modelled = search.modelled;
  EXPECT_EQ(beam(again.facts, again.workshop, strict, modelled, {.programs = 4}).size(), again.ranked.size());
  EXPECT_LE(strict.asked, 4u);
}

TEST(Beam, EndsWhenNobodyWaitsForIt) {
  struct Stopped : Said {
    using Said::Said;
    bool stopped() const override { return asked >= 3; }
  };
  Stopped model([](const std::string& text) { return double(text.size()); });
  const Search search(model);
  EXPECT_EQ(model.asked, 3u);
}

TEST(Beam, ProposedIsTheBestAndTheBestWithoutEachOfItsRules) {
  const Rule *a = &all_rules()[0], *b = &all_rules()[1], *c = &all_rules()[2];
  const auto ranked = [](double seconds, std::vector<const Rule*> rules) {
    Ranked one{.seconds = seconds};
    for (const Rule* rule : rules) one.draft.applied.push_back({rule, 0});
    return one;
  };
  const std::vector<Ranked> all = {ranked(5, {a, b}), ranked(6, {a, b, c}), ranked(7, {b}), ranked(8, {a}),
                                   ranked(9.9, {c})};
  const auto seconds_of = [](const std::vector<Ranked>& some) {
    std::vector<double> seconds;
    for (const Ranked& one : some) seconds.push_back(one.seconds);
    return seconds;
  };
  EXPECT_EQ(seconds_of(worth_proposing(all, 10, 0)), (std::vector<double>{5, 7, 8}));
  EXPECT_EQ(seconds_of(worth_proposing(all, 10, 0.3)), (std::vector<double>{5, 7}));
  EXPECT_TRUE(worth_proposing(all, 5, 0.01).empty());
  EXPECT_TRUE(worth_proposing({}, 5, 0).empty());
}
