#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// A load (1), a load from a table (2), and a store (3), with cache policy bits.
std::string copy(const std::string& load_bits = "", const std::string& table_bits = "",
                 const std::string& store_bits = "") {
  return "v_lshlrev_b32_e32 v0, 2, v0\n"
         "global_load_dword v1, v0, s[0:1]" +
         load_bits +
         "\n"
         "global_load_dword v2, v0, s[0:1] offset:256" +
         table_bits +
         "\n"
         "s_waitcnt vmcnt(0)\n"
         "v_add_u32_e32 v1, v1, v2\n"
         "global_store_dword v0, v1, s[0:1] offset:512" +
         store_bits + "\ns_endpgm\n";
}

/// Shares of the lines of the n-th memory instruction that are found again.
Facts facts_with(const recover::Program& program, const std::vector<double>& reused) {
  Facts facts = facts_of(program);
  size_t n = 0;
  for (size_t item = facts.function.first; item < facts.function.last; ++item)
    if (facts.is_instruction(item) && facts.instruction(item).traits.vmem && n < reused.size())
      facts.lines_of[item - facts.function.first] = {.asked = 100, .reused = 100 * reused[n++]};
  return facts;
}

std::string after(const recover::Program& program, const Idea& idea) {
  const std::string text = applied(program, idea);
  EXPECT_EQ(results_of(text, 0, 64, true), results_of(text_of(program), 0, 64, true)) << text;
  return text;
}

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

} // namespace

TEST(CachePolicy, WhatStreamsBesideSomethingThatIsFoundAgainIsMarked) {
  const recover::Program program = program_of(copy());
  const auto ideas = cache_policy(facts_with(program, {0, 0.9, 0}));
  ASSERT_EQ(ideas.size(), 3u);
  const std::string both = after(program, ideas[0]);
  EXPECT_EQ(count(both, " nt"), 2u) << both;
  EXPECT_EQ(count(both, "offset:256 nt"), 0u) << both;
  const std::string loads = after(program, ideas[1]), stores = after(program, ideas[2]);
  EXPECT_NE(loads.find("global_load_dword v1, v0, s[0:1] nt"), std::string::npos) << loads;
  EXPECT_EQ(count(loads, " nt"), 1u) << loads;
  EXPECT_NE(stores.find("offset:512 nt"), std::string::npos) << stores;
  EXPECT_EQ(count(stores, " nt"), 1u) << stores;
}

TEST(CachePolicy, IdeasAreVariantsOfOneAnother) {
  const recover::Program program = program_of(copy());
  const auto ideas = cache_policy(facts_with(program, {0, 0.9, 0}));
  ASSERT_EQ(ideas.size(), 3u);
  for (unsigned k = 0; k < 3; ++k) EXPECT_EQ(ideas[k].variant, k);
}

TEST(CachePolicy, WhereNothingIsFoundAgainThereIsNothingToWin) {
  EXPECT_TRUE(cache_policy(facts_with(program_of(copy()), {0, 0, 0})).empty());
}

TEST(CachePolicy, WhereEverythingIsFoundAgainNothingStreams) {
  EXPECT_TRUE(cache_policy(facts_with(program_of(copy()), {0.5, 0.9, 0.2})).empty());
}

TEST(CachePolicy, WhatWasNotTimedIsNotMarked) { EXPECT_TRUE(cache_policy(facts_of(program_of(copy()))).empty()); }

TEST(CachePolicy, ScopeBitsStayAndTheirInstructionsAsTheyAre) {
  for (const char* scope : {" sc0", " sc1", " sc0 sc1"}) {
    const recover::Program program = program_of(copy(scope, "", scope));
    EXPECT_TRUE(cache_policy(facts_with(program, {0, 0.9, 0})).empty()) << scope;
  }
  const recover::Program program = program_of(copy(" sc0 nt sc1", "", ""));
  for (const Idea& idea : cache_policy(facts_with(program, {0.9, 0.9, 0})))
    EXPECT_EQ(count(after(program, idea), "sc0 nt sc1"), 1u);
}

TEST(CachePolicy, AtomicsAreNotMarked) {
  const recover::Program program = program_of("v_lshlrev_b32_e32 v0, 2, v0\n"
                                              "global_load_dword v1, v0, s[0:1]\n"
                                              "s_waitcnt vmcnt(0)\n"
                                              "global_atomic_add v0, v1, s[0:1] offset:256\n"
                                              "s_endpgm\n");
  EXPECT_TRUE(cache_policy(facts_with(program, {0.9, 0})).empty());
}

TEST(CachePolicy, AHintOnLinesThatAreWantedAgainGoes) {
  const recover::Program program = program_of(copy("", " nt", " nt"));
  const auto ideas = cache_policy(facts_with(program, {0.9, 0.9, 0}));
  ASSERT_EQ(ideas.size(), 1u);
  const std::string text = after(program, ideas[0]);
  EXPECT_EQ(count(text, "offset:256 nt"), 0u) << text;
  EXPECT_EQ(count(text, "offset:512 nt"), 1u) << text;
}

TEST(CachePolicy, WhatHasTheHintIsNotMarkedTwice) {
  const recover::Program program = program_of(copy(" nt", "", " nt"));
  EXPECT_TRUE(cache_policy(facts_with(program, {0, 0.9, 0})).empty());
}
