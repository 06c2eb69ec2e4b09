// Guarded regions as one block: that every lane gets what it got, and when the code is left as it was.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// Lane numbers go to v0 and their bytes from s[0:1] to v1; four results wait to be stored.
const std::string before = "v_mbcnt_lo_u32_b32 v0, -1, 0\n"
                           "v_mbcnt_hi_u32_b32 v0, -1, v0\n"
                           "v_lshlrev_b32_e32 v1, 2, v0\n"
                           "v_mov_b32_e32 v4, 0\n"
                           "v_mov_b32_e32 v5, 1.0\n";
const std::string after = "global_store_dword v1, v4, s[0:1] offset:2048\n"
                          "global_store_dword v1, v5, s[0:1] offset:2304\n"
                          "s_endpgm\n";

/// A region of lanes from `low` on that adds one word of memory and a scalar one to v4.
std::string region(int low, int offset, const std::string& name) {
  return fmt::format("v_cmp_le_u32_e32 vcc, {}, v0\n"
                     "s_and_saveexec_b64 s[2:3], vcc\n"
                     "s_cbranch_execz {}\n"
                     "v_add_u32_e32 v6, {}, v1\n"
                     "global_load_dword v7, v6, s[0:1]\n"
                     "s_load_dword s4, s[0:1], 0x{:x}\n"
                     "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                     "v_add3_u32 v4, v4, v7, s4\n"
                     "{}:\n"
                     "s_or_b64 exec, exec, s[2:3]\n",
                     low, name, offset, offset * 4, name);
}

std::vector<Idea> ideas_for(const std::string& body) {
  const recover::Program program = program_of(before + body + after);
  return flatten_guards(facts_of(program));
}

/// The program after each idea leaves the same in memory as before; how many ideas there were.
size_t same_results(const std::string& body) {
  const std::string text = before + body + after;
  const recover::Program program = program_of(text);
  const std::vector<Idea> ideas = flatten_guards(facts_of(program));
  const auto expected = results_of(text);
  EXPECT_TRUE(expected);
  for (const Idea& idea : ideas) {
    const std::string changed = applied(program, idea);
    EXPECT_EQ(results_of(changed), expected) << changed;
  }
  return ideas.size();
}

/// What of the text stands before the slow path.
std::string fast_path(const recover::Program& program, const Idea& idea) {
  const std::string text = applied(program, idea);
  return text.substr(0, text.find("s_branch"));
}

} // namespace

TEST(FlattenGuards, RegionsInARowGiveWhatTheyGave) {
  EXPECT_EQ(same_results(region(3, 8, ".La") + region(9, 24, ".Lb")), 2u);
  EXPECT_EQ(same_results(region(0, 8, ".La") + region(63, 24, ".Lb") + region(5, 40, ".Lc")), 2u);
}

TEST(FlattenGuards, AnEmptyRegionTakesTheOldWay) {
  EXPECT_EQ(same_results(region(3, 8, ".La") + region(64, 24, ".Lb")), 2u);
}

TEST(FlattenGuards, LoadsOfAllRegionsComeBeforeTheFirstUse) {
  const recover::Program program = program_of(before + region(3, 8, ".La") + region(9, 24, ".Lb") + after);
  const auto ideas = flatten_guards(facts_of(program));
  ASSERT_EQ(ideas.size(), 2u);
  const std::string text = fast_path(program, ideas[0]);
  EXPECT_LT(text.rfind("global_load_dword"), text.find("v_add3_u32")) << text;
  EXPECT_EQ(text.find("s_cbranch_execz"), text.npos) << text;
}

TEST(FlattenGuards, ABodyThatIsLaidOutElsewhereComesInLine) {
  EXPECT_EQ(same_results("v_cmp_le_u32_e32 vcc, 7, v0\n"
                         "s_and_saveexec_b64 s[2:3], vcc\n"
                         "s_cbranch_execnz .Lbody\n"
                         ".Lback:\n"
                         "s_or_b64 exec, exec, s[2:3]\n" +
                         region(9, 24, ".Lb") +
                         "s_branch .Lend_of_regions\n"
                         ".Lbody:\n"
                         "v_add_u32_e32 v5, 5, v5\n"
                         "s_branch .Lback\n"
                         ".Lend_of_regions:\n"),
            2u);
}

TEST(FlattenGuards, NestedRegionsRunUnderBothMasks) {
  EXPECT_EQ(same_results("v_cmp_le_u32_e32 vcc, 7, v0\n"
                         "s_and_saveexec_b64 s[6:7], vcc\n"
                         "s_cbranch_execz .Louter\n"
                         "v_add_u32_e32 v5, 5, v5\n" +
                         region(9, 24, ".Lb") + region(20, 8, ".Lc") +
                         ".Louter:\n"
                         "s_or_b64 exec, exec, s[6:7]\n"),
            2u);
}

TEST(FlattenGuards, OtherLanesOfAnElseKeepTheirs) {
  EXPECT_EQ(same_results("v_cmp_le_u32_e32 vcc, 7, v0\n"
                         "s_and_saveexec_b64 s[6:7], vcc\n"
                         "s_xor_b64 s[6:7], exec, s[6:7]\n"
                         "s_cbranch_execz .Lelse\n"
                         "v_add_u32_e32 v5, 5, v0\n"
                         ".Lelse:\n"
                         "s_andn2_saveexec_b64 s[6:7], s[6:7]\n"
                         "s_cbranch_execz .Ldone\n"
                         "v_lshlrev_b32_e32 v5, 3, v0\n"
                         ".Ldone:\n"
                         "s_or_b64 exec, exec, s[6:7]\n" +
                         region(9, 24, ".Lb")),
            2u);
}

TEST(FlattenGuards, WhatOneRegionLeavesInOtherLanesIsStillThere) {
  // v6 of the first region is read behind it, in lanes that did not write it as well.
  EXPECT_EQ(same_results("v_mov_b32_e32 v6, 9\n" + region(9, 24, ".Lb") + "v_add_u32_e32 v5, v6, v5\n" +
                         region(12, 8, ".Lc") + "v_add_u32_e32 v5, v6, v5\n" + region(2, 16, ".Ld")),
            2u);
}

TEST(FlattenGuards, AMaskThatARegionComputesIsMetWithItsLanes) {
  // The comparison inside leaves zeros where the region has no lanes; what is made of it behind the region sees those.
  EXPECT_EQ(same_results(region(3, 8, ".La") +
                         "v_cmp_le_u32_e32 vcc, 8, v0\n"
                         "s_and_saveexec_b64 s[6:7], vcc\n"
                         "s_cbranch_execz .Lm\n"
                         "v_cmp_gt_u32_e64 s[8:9], 50, v0\n"
                         ".Lm:\n"
                         "s_or_b64 exec, exec, s[6:7]\n"
                         "v_cndmask_b32_e64 v5, v5, v0, s[8:9]\n" +
                         region(9, 24, ".Lb")),
            2u);
}

TEST(FlattenGuards, ScalarLoadsOfNeighbouringWordsBecomeOne) {
  const recover::Program program = program_of(before + region(3, 8, ".La") + region(9, 9, ".Lb") + after);
  const auto ideas = flatten_guards(facts_of(program));
  ASSERT_EQ(ideas.size(), 2u);
  EXPECT_NE(fast_path(program, ideas[0]).find("s_load_dwordx2"), std::string::npos) << applied(program, ideas[0]);
  EXPECT_EQ(same_results(region(3, 8, ".La") + region(9, 9, ".Lb")), 2u);
}

TEST(FlattenGuards, AStoreInARegionKeepsItsPlaceAmongTheLoads) {
  const auto guarded = [](int low, const std::string& name, const std::string& work) {
    return fmt::format("v_cmp_le_u32_e32 vcc, {}, v0\ns_and_saveexec_b64 s[2:3], vcc\ns_cbranch_execz {}\n{}"
                       "{}:\ns_or_b64 exec, exec, s[2:3]\n",
                       low, name, work, name);
  };
  const std::string load = "global_load_dword v7, v1, s[0:1]\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v4, v4, v7\n";
  EXPECT_EQ(same_results(guarded(3, ".La", load) + guarded(4, ".Lb", "global_store_dword v1, v0, s[0:1]\n") +
                         guarded(9, ".Lc", load)),
            2u);
}

TEST(FlattenGuards, AMaskThatWaitsForMemoryEndsWhatIsTakenTogether) {
  // The third region's condition is loaded: only the first two are taken together.
  const std::string body = region(3, 8, ".La") + region(9, 24, ".Lb") +
                           "global_load_dword v8, v1, s[0:1] offset:16\ns_waitcnt vmcnt(0)\n"
                           "v_cmp_eq_u32_e32 vcc, 0, v8\ns_and_saveexec_b64 s[2:3], vcc\ns_cbranch_execz .Ld\n"
                           "v_add_u32_e32 v5, 5, v5\n.Ld:\ns_or_b64 exec, exec, s[2:3]\n";
  const recover::Program program = program_of(before + body + after);
  const auto ideas = flatten_guards(facts_of(program));
  ASSERT_EQ(ideas.size(), 2u);
  EXPECT_EQ(fast_path(program, ideas[0]).find("v_cmp_eq_u32"), std::string::npos);
  EXPECT_EQ(same_results(body), 2u);
}

TEST(FlattenGuards, ARegisterThatIsOverwrittenBehindTheRegionsStandsInNobodysWay) {
  // v9 is computed for a mask. Behind the regions it is written and read, with fewer lanes than the kernel began with.
  const std::string body = "v_cmp_gt_u32_e32 vcc, 60, v0\ns_and_saveexec_b64 s[10:11], vcc\n" + region(3, 8, ".La") +
                           "v_add_u32_e32 v9, 1, v0\nv_cmp_le_u32_e32 vcc, 9, v9\n"
                           "s_and_saveexec_b64 s[2:3], vcc\ns_cbranch_execz .Lq\nv_add_u32_e32 v5, 5, v5\n"
                           ".Lq:\ns_or_b64 exec, exec, s[2:3]\n"
                           "v_mov_b32_e32 v9, 3\nv_add_u32_e32 v5, v5, v9\n";
  EXPECT_EQ(same_results(body), 2u);
}

TEST(FlattenGuards, CodeThatCannotBeFollowedStaysAsItIs) {
  EXPECT_TRUE(ideas_for(region(3, 8, ".La")).empty()); // one region is no row
  EXPECT_TRUE(ideas_for(region(3, 8, ".La") + "s_barrier\n" + region(9, 24, ".Lb")).empty());
  EXPECT_TRUE(
      ideas_for(region(3, 8, ".La") + "s_cmp_eq_u32 s4, 0\ns_cbranch_scc1 .Lx\n.Lx:\n" + region(9, 24, ".Lb")).empty());
  EXPECT_TRUE(ideas_for(region(3, 8, ".La") + "v_cmpx_le_u32_e32 vcc, 3, v0\n" + region(9, 24, ".Lb")).empty());
  EXPECT_TRUE(ideas_for(region(3, 8, ".La") + "s_mov_b64 exec, s[10:11]\n" + region(9, 24, ".Lb")).empty());
}
