#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// A loop whose first instruction, of eight bytes, begins `before` dwords into the code.
std::string loop_behind(int before) {
  std::string text;
  for (int k = 0; k + 1 < before; ++k) text += fmt::format("v_add_u32_e32 v{}, {}, v0\n", k + 1, k);
  return text + "s_mov_b32 s2, 5\n"
                ".Lloop:\n"
                "v_add_u32_e64 v0, v0, s2\n"
                "s_sub_i32 s2, s2, 1\n"
                "s_cmp_lg_u32 s2, 0\n"
                "s_cbranch_scc1 .Lloop\n"
                "v_mov_b32_e32 v2, 0\n"
                "global_store_dword v2, v0, s[0:1]\n"
                "s_endpgm\n";
}

} // namespace

TEST(AlignLoops, ALoopThatBeginsAcrossTwoFetchBlocksIsAligned) {
  const recover::Program program = program_of(loop_behind(7));
  const auto ideas = align_loops(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  const std::string text = applied(program, ideas[0]);
  EXPECT_NE(text.find(".p2align"), std::string::npos) << text;
  EXPECT_EQ(results_of(text), results_of(loop_behind(7)));
}

TEST(AlignLoops, ALoopThatBeginsInOneFetchBlockStaysWhereItIs) {
  EXPECT_TRUE(align_loops(facts_of(program_of(loop_behind(6)))).empty());
  EXPECT_TRUE(align_loops(facts_of(program_of(loop_behind(8)))).empty());
}

TEST(AlignLoops, WhatNothingBranchesBackToIsNoLoop) {
  const recover::Program program = program_of("v_add_u32_e32 v1, 1, v0\nv_add_u32_e32 v2, 1, v0\n"
                                              "v_add_u32_e32 v3, 1, v0\nv_add_u32_e32 v4, 1, v0\n"
                                              "s_cmp_lg_u32 s2, 0\n"
                                              "v_add_u32_e32 v5, 1, v0\n"
                                              "s_cbranch_scc1 .Lbehind\n"
                                              ".Lbehind:\n"
                                              "v_add_u32_e64 v0, v0, s2\n"
                                              "s_endpgm\n");
  EXPECT_TRUE(align_loops(facts_of(program)).empty());
}
