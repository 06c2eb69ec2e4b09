// Fewer registers where that lets another wave run, and the same results.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

const std::string lane = "v_mbcnt_lo_u32_b32 v0, -1, 0\n"
                         "v_mbcnt_hi_u32_b32 v0, -1, v0\n"
                         "v_lshlrev_b32_e32 v8, 4, v0\n";
// 66 registers are named, and few of them hold something at once.
const std::string sparse = lane + "v_add_u32_e32 v65, 5, v0\n"
                                  "v_mul_lo_u32 v64, v65, v65\n"
                                  "v_mov_b32_e32 v62, v64\n"
                                  "v_mov_b32_e32 v63, v65\n"
                                  "global_store_dwordx4 v8, v[62:65], s[0:1]\n"
                                  "s_endpgm\n";

/// The program after the one idea; empty where there is none.
std::string changed(const std::string& text, uint32_t vgprs = 68) {
  const recover::Program program = program_of(text, vgprs);
  const auto ideas = compact_registers(facts_of(program));
  EXPECT_LE(ideas.size(), 1u);
  if (ideas.empty()) return "";
  const std::string result = applied(program, ideas.front());
  EXPECT_EQ(results_of(result), results_of(text)) << result;
  const recover::Program after = program_of(result, 64);
  EXPECT_LE(facts_of(after).vgprs_used, 64u) << result;
  return result;
}

/// `count` values computed from the lane that are all wanted behind the last, in registers from `first` on but v8.
std::string crowd(int count, int first) {
  const auto at = [&](int value) { return first > 8 || first + value < 8 ? first + value : first + value + 1; };
  std::string text = lane;
  for (int v = 0; v < count; ++v) text += fmt::format("v_mul_u32_u24_e32 v{}, {}, v0\n", at(v), 3 + v % 60);
  for (int v = 1; v < count; ++v) text += fmt::format("v_xor_b32_e32 v{0}, v{0}, v{1}\n", at(0), at(v));
  return text + fmt::format("global_store_dword v8, v{}, s[0:1]\ns_endpgm\n", at(0));
}

} // namespace

TEST(CompactRegisters, AWaveMoreFitsBelowTheStep) {
  const std::string text = changed(sparse);
  EXPECT_NE(text, "");
  EXPECT_EQ(text.find("v65"), std::string::npos) << text;
}

TEST(CompactRegisters, TheDeclarationFollows) {
  const recover::Program program = program_of(sparse, 68);
  const auto ideas = compact_registers(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  const auto edits = complete(facts_of(program), ideas.front());
  ASSERT_TRUE(edits);
  const auto after = recover::apply(program, *edits, codec());
  ASSERT_TRUE(after);
  EXPECT_LE(after->declared.front().vgprs, 64u);
}

TEST(CompactRegisters, ManyValuesFindRoomInHoles) {
  // 57 values and the address, where the lane and holes were too.
  EXPECT_NE(changed(crowd(57, 9)), "");
}

TEST(CompactRegisters, WhatIsLiveTogetherStaysApart) { EXPECT_EQ(changed(crowd(66, 1)), ""); }

TEST(CompactRegisters, ATupleStaysTogetherAndEven) {
  const std::string text = changed(lane + "v_mov_b32_e32 v66, v0\nv_mov_b32_e32 v67, v8\n"
                                          "v_lshlrev_b64 v[68:69], 3, v[66:67]\n"
                                          "global_store_dwordx2 v8, v[68:69], s[0:1]\ns_endpgm\n",
                                   72);
  EXPECT_NE(text, "");
}

TEST(CompactRegisters, BothArmsOfABranchDefineOneValue) {
  EXPECT_NE(changed(lane + "s_cmp_eq_u32 s2, 0\n"
                           "s_cbranch_scc1 .Lelse\n"
                           "v_add_u32_e32 v64, 7, v0\n"
                           "s_branch .Ljoin\n"
                           ".Lelse:\n"
                           "v_add_u32_e32 v64, 9, v0\n"
                           ".Ljoin:\n"
                           "v_mov_b32_e32 v65, 1\n"
                           "v_add_u32_e32 v1, v64, v65\n"
                           "global_store_dword v8, v1, s[0:1]\n"
                           "s_endpgm\n"),
            "");
}

TEST(CompactRegisters, LanesThatAreSwitchedOffKeepTheirValues) {
  EXPECT_NE(changed(lane + "v_mov_b32_e32 v64, 7\n"
                           "v_cmp_lt_u32_e32 vcc, 20, v0\n"
                           "s_and_saveexec_b64 s[6:7], vcc\n"
                           "v_mul_u32_u24_e32 v65, v0, v0\n"
                           "v_add_u32_e32 v64, 1, v65\n"
                           "s_or_b64 exec, exec, s[6:7]\n"
                           "global_store_dword v8, v64, s[0:1]\n"
                           "s_endpgm\n"),
            "");
}

TEST(CompactRegisters, ALoopKeepsWhatGoesRound) {
  EXPECT_NE(changed(lane + "v_mov_b32_e32 v64, 1\n"
                           "s_mov_b32 s4, 5\n"
                           ".Lloop:\n"
                           "v_add_u32_e32 v65, 3, v64\n"
                           "v_mul_u32_u24_e32 v66, v65, v0\n"
                           "v_and_b32_e32 v64, 0xfff, v66\n"
                           "s_sub_i32 s4, s4, 1\n"
                           "s_cmp_lg_u32 s4, 0\n"
                           "s_cbranch_scc1 .Lloop\n"
                           "global_store_dword v8, v64, s[0:1]\n"
                           "s_endpgm\n"),
            "");
}

TEST(CompactRegisters, NothingMovesFarFromAStep) {
  EXPECT_EQ(changed(crowd(10, 9), 20), "");
  EXPECT_EQ(changed(lane + "v_mov_b32_e32 v126, v0\nglobal_store_dword v8, v126, s[0:1]\ns_endpgm\n", 64), "");
}

TEST(CompactRegisters, ADeclarationWithRoomToSpareIsLeftAlone) { EXPECT_EQ(changed(sparse, 128), ""); }

TEST(CompactRegisters, KernelsThatCallStay) { EXPECT_EQ(changed("s_swappc_b64 s[30:31], s[4:5]\n" + sparse), ""); }

TEST(CompactRegisters, KernelsThatSwitchOnAllLanesStay) {
  EXPECT_EQ(changed("s_or_saveexec_b64 s[6:7], -1\nv_mov_b32_e32 v1, 0\ns_mov_b64 exec, s[6:7]\n" + sparse), "");
}
