// Branches of lanes whose condition is the same in all of them.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

// s4 is 7 where the argument's first word is `number`: the results are stored over it.
std::string begin(int number) {
  return "s_load_dword s4, s[0:1], 0x0\n"
         "v_mbcnt_lo_u32_b32 v0, -1, 0\n"
         "v_mbcnt_hi_u32_b32 v0, -1, v0\n"
         "v_lshlrev_b32_e32 v8, 2, v0\n"
         "v_mov_b32_e32 v2, 5\n"
         "s_waitcnt lgkmcnt(0)\n"
         "v_mov_b32_e32 v3, s4\n"
         "v_add_u32_e32 v3, " +
         std::to_string(number) + ", v3\n";
}
const std::string guarded = "v_cmp_gt_i32_e32 vcc, 7, v3\n"
                            "s_and_saveexec_b64 s[6:7], vcc\n"
                            "s_cbranch_execz .Lskip\n"
                            "v_add_u32_e32 v2, v2, v0\n"
                            "v_mul_u32_u24_e32 v2, v2, v2\n"
                            ".Lskip:\n"
                            "s_or_b64 exec, exec, s[6:7]\n";
const std::string two = "v_cmp_gt_i32_e32 vcc, 7, v3\n"
                        "s_and_saveexec_b64 s[6:7], vcc\n"
                        "s_xor_b64 s[6:7], exec, s[6:7]\n"
                        "s_cbranch_execz .Lother\n"
                        "v_add_u32_e32 v2, v2, v0\n"
                        ".Lother:\n"
                        "s_andn2_saveexec_b64 s[6:7], s[6:7]\n"
                        "s_cbranch_execz .Ljoin\n"
                        "v_sub_u32_e32 v2, v2, v0\n"
                        ".Ljoin:\n"
                        "s_or_b64 exec, exec, s[6:7]\n";
const std::string masked = "v_cmp_gt_i32_e32 vcc, 7, v3\n"
                           "s_and_b64 vcc, exec, vcc\n"
                           "s_cbranch_vccz .Lskip\n"
                           "v_add_u32_e32 v2, v2, v0\n"
                           ".Lskip:\n";
const std::string end = "global_store_dword v8, v2, s[0:1]\n"
                        "s_endpgm\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

size_t ideas(const std::string& body, const std::string& behind = end) {
  const recover::Program program = program_of(begin(0) + body + behind);
  return uniform_branches(facts_of(program)).size();
}

/// The program after the one idea, which does the same either way.
std::string changed(const std::string& body) {
  std::string after;
  for (const int number : {0, 7, 8, -3}) {
    const std::string before = begin(number) + body + end;
    const recover::Program program = program_of(before);
    const auto found = uniform_branches(facts_of(program));
    EXPECT_EQ(found.size(), 1u);
    if (found.empty()) return "";
    after = applied(program, found.front());
    const auto a = results_of(before), b = results_of(after);
    EXPECT_TRUE(a && b && *a == *b) << after;
  }
  return after;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

} // namespace

TEST(UniformBranches, AGuardThatIsTheSameInAllLanesIsABranch) {
  const std::string text = changed(guarded);
  EXPECT_TRUE(has(text, "s_cmp_gt_i32 7, s") && has(text, "s_cbranch_scc0")) << text;
  for (const char* part : {"saveexec", "execz", "v_cmp"}) EXPECT_FALSE(has(text, part)) << text;
}

TEST(UniformBranches, TheGuardedCodeMayStandElsewhere) {
  const std::string apart = "s_branch .Lstart\n"
                            ".Ldo:\n"
                            "v_add_u32_e32 v2, v2, v0\n"
                            "s_branch .Lback\n"
                            ".Lstart:\n"
                            "v_cmp_gt_i32_e32 vcc, 7, v3\n"
                            "s_and_saveexec_b64 s[6:7], vcc\n"
                            "s_cbranch_execnz .Ldo\n"
                            ".Lback:\n"
                            "s_or_b64 exec, exec, s[6:7]\n";
  EXPECT_TRUE(has(changed(apart), "s_cbranch_scc1"));
}

TEST(UniformBranches, OneOfTwoWaysIsTaken) {
  const std::string text = changed(two);
  EXPECT_TRUE(has(text, "s_cbranch_scc0") && has(text, "s_branch")) << text;
  EXPECT_FALSE(has(text, "exec")) << text;
}

TEST(UniformBranches, AMaskThatIsOnlyBranchedOnIsNotMade) {
  const std::string text = changed(masked);
  EXPECT_FALSE(has(text, "vcc")) << text;
  EXPECT_TRUE(has(changed(replaced(masked, "vccz", "vccnz")), "s_cbranch_scc1"));
}

TEST(UniformBranches, EveryCompareOfIntegersHasItsScalar) {
  for (const std::string kind : {"i32", "u32"})
    for (const std::string relation : {"eq", "ne", "gt", "ge", "lt", "le"})
      changed(replaced(guarded, "v_cmp_gt_i32", "v_cmp_" + relation + "_" + kind));
}

TEST(UniformBranches, LanesThatDifferKeepTheirMask) {
  for (const std::string& body : {guarded, two, masked}) EXPECT_EQ(ideas(replaced(body, "7, v3", "7, v0")), 0u);
}

TEST(UniformBranches, ValuesThatMetFromDifferentLanesDiffer) {
  const std::string mixed = "v_cmp_gt_u32_e32 vcc, 9, v0\n"
                            "s_and_saveexec_b64 s[8:9], vcc\n"
                            "v_mov_b32_e32 v3, 3\n"
                            "s_or_b64 exec, exec, s[8:9]\n";
  EXPECT_EQ(ideas(mixed + guarded), 0u);
}

TEST(UniformBranches, SomeLaneHasToBeActive) { EXPECT_EQ(ideas("s_and_b64 exec, exec, s[8:9]\n" + guarded), 0u); }

TEST(UniformBranches, FloatsAreNotCompared) { EXPECT_EQ(ideas(replaced(guarded, "v_cmp_gt_i32", "v_cmp_gt_f32")), 0u); }

TEST(UniformBranches, WhatIsComparedHasToBeThereStill) {
  EXPECT_EQ(ideas(replaced(guarded, "s_and_saveexec", "v_mov_b32_e32 v3, 0\ns_and_saveexec")), 0u);
}

TEST(UniformBranches, WhereNoLaneGoesNothingMayBeDone) {
  EXPECT_EQ(ideas(replaced(guarded, "s_or_b64 exec", "v_mov_b32_e32 v2, 1\ns_or_b64 exec")), 0u);
}

TEST(UniformBranches, AMaskThatIsWantedIsMade) {
  EXPECT_EQ(ideas(masked, "v_cndmask_b32_e64 v2, v2, 0, vcc\n" + end), 0u);
  EXPECT_EQ(ideas(two, "s_mov_b64 exec, s[6:7]\n" + end), 0u);
  EXPECT_EQ(ideas(guarded, "s_cselect_b32 s5, 1, 0\n" + end), 1u); // that of the join
}
