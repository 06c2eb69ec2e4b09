#include "search/drivers/rewrite/bundle.h"

#include "rewrite_fixture.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

const Rule* rule_named(std::string_view name) {
  const auto rules = all_rules();
  const auto at = std::ranges::find(rules, name, &Rule::name);
  return at == rules.end() ? nullptr : &*at;
}

std::string carried_out(const recover::Program& program, const Bundle& bundle) {
  KnownSteps known;
  const Facts facts = facts_of(program);
  Workshop workshop(facts, known);
  const auto bundled = carry_out(workshop, bundle);
  if (!bundled) return "(nothing)";
  const auto after = recover::apply(program, bundled->edits, codec());
  return after ? text_of(*after) : "(does not assemble)";
}

constexpr const char* two_skips = "s_and_saveexec_b64 s[2:3], vcc\n"
                                  "s_cbranch_execz .Lone\n"
                                  "v_add_f32_e32 v2, 1.0, v2\n"
                                  ".Lone:\n"
                                  "s_or_b64 exec, exec, s[2:3]\n"
                                  "s_and_saveexec_b64 s[2:3], s[4:5]\n"
                                  "s_cbranch_execz .Ltwo\n"
                                  "v_add_f32_e32 v2, 2.0, v2\n"
                                  ".Ltwo:\n"
                                  "s_or_b64 exec, exec, s[2:3]\n"
                                  "v_mov_b32_e32 v7, v2\n"
                                  "global_load_dword v4, v[0:1], off\n"
                                  "global_load_dword v5, v[0:1], off offset:4\n"
                                  "global_load_dword v6, v[0:1], off offset:8\n"
                                  "global_load_dword v8, v[0:1], off offset:12\n"
                                  "s_waitcnt vmcnt(0)\n"
                                  "v_add_f32_e32 v4, v4, v5\n"
                                  "v_add_f32_e32 v6, v6, v8\n"
                                  "v_add_f32_e32 v4, v4, v6\n"
                                  "v_add_f32_e32 v4, v4, v2\n"
                                  "global_store_dword v[0:1], v4, off\n"
                                  "s_endpgm\n";

} // namespace

TEST(Bundle, ARuleIsCarriedOutInAllItsPlaces) {
  const recover::Program program = program_of(two_skips);
  const std::string text = carried_out(program, {{{rule_named("drop-exec-skips"), 0}}, {}});
  EXPECT_EQ(text.find("s_cbranch"), std::string::npos) << text;
}

TEST(Bundle, ARuleThatIsNotSeparableGoesOnFromWhatItMade) {
  const recover::Program program = program_of(two_skips);
  const std::string text = carried_out(program, {{{rule_named("merge-memory"), 0}}, {}});
  EXPECT_NE(text.find("global_load_dwordx4"), std::string::npos) << text;
}

TEST(Bundle, RulesWorkOnWhatTheOnesBeforeHaveLeft) {
  const recover::Program program = program_of(two_skips);
  KnownSteps known;
  const Facts facts = facts_of(program);
  Workshop workshop(facts, known);
  const auto bundled = carry_out(workshop, {{{rule_named("drop-exec-skips"), 0}, {rule_named("merge-memory"), 0}}, {}});
  ASSERT_TRUE(bundled);
  EXPECT_NE(bundled->rationale.find("drop-exec-skips"), std::string::npos);
  EXPECT_NE(bundled->rationale.find("merge-memory"), std::string::npos);
  const auto after = recover::apply(program, bundled->edits, codec());
  ASSERT_TRUE(after);
  const std::string text = text_of(*after);
  EXPECT_EQ(text.find("s_cbranch"), std::string::npos) << text;
  EXPECT_NE(text.find("global_load_dwordx4"), std::string::npos) << text;
}

TEST(Bundle, StepsThatAreKnownGiveTheSameBundle) {
  const recover::Program program = program_of(two_skips);
  const Facts facts = facts_of(program);
  const Bundle both{{{rule_named("drop-exec-skips"), 0}, {rule_named("merge-memory"), 0}}, {}};
  const Bundle one{{{rule_named("merge-memory"), 0}, {rule_named("drop-exec-skips"), 0}}, {}};
  KnownSteps known, fresh;
  Workshop workshop(facts, known), other_workshop(facts, fresh);
  ASSERT_TRUE(carry_out(workshop, both));
  EXPECT_EQ(known.size(), 2u);
  const auto again = carry_out(workshop, both), anew = carry_out(other_workshop, both);
  EXPECT_EQ(known.size(), 2u);
  EXPECT_EQ(again->rationale, anew->rationale);
  EXPECT_EQ(recover::apply(program, again->edits, codec())->items.size(),
            recover::apply(program, anew->edits, codec())->items.size());
  carry_out(workshop, one);
  EXPECT_GT(known.size(), 2u);
}

TEST(Bundle, WhatIsOneIdeaIsNoBundle) {
  const recover::Program program = program_of("s_and_saveexec_b64 s[2:3], vcc\n"
                                              "s_cbranch_execz .Lone\n"
                                              "v_add_f32_e32 v2, 1.0, v2\n"
                                              ".Lone:\n"
                                              "s_or_b64 exec, exec, s[2:3]\n"
                                              "global_store_dword v[0:1], v2, off\n"
                                              "s_endpgm\n");
  KnownSteps known;
  const Facts facts = facts_of(program);
  Workshop workshop(facts, known);
  EXPECT_FALSE(carry_out(workshop, {{{rule_named("drop-exec-skips"), 0}}, {}}));
}

TEST(Bundle, WithoutAToleranceNoBundleChangesRounding) {
  for (const Bundle& bundle : all_bundles(false))
    for (const Bundle::Step& step : bundle.steps) EXPECT_FALSE(step.rule->changes_floats) << step.rule->name;
}

TEST(Bundle, ADirectionIsThatOfAllItsSteps) {
  for (const Bundle& bundle : all_bundles(true))
    for (const Bundle::Step& step : bundle.steps)
      EXPECT_EQ(step.rule->direction, bundle.direction.value_or(step.rule->direction));
}
