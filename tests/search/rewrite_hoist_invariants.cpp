// What leaves a loop and what stays, and that results stay what they were.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

std::string loop_with(const std::string& body, const std::string& end = "s_add_u32 s4, s4, 1\ns_cmp_lt_u32 s4, 9\n"
                                                                        "s_cbranch_scc1 top\n") {
  return "v_mov_b32_e32 v1, 3.0\nv_mov_b32_e32 v2, 0\ns_mov_b32 s4, 0\ntop:\n" + body + end +
         "global_store_dword v0, v2, s[0:1]\ns_endpgm\n";
}

/// The program after the one idea; empty where there is none.
std::string hoisted(const std::string& text) {
  recover::Program program = program_of(text);
  const auto ideas = hoist_invariants(facts_of(program));
  EXPECT_LE(ideas.size(), 1u);
  return ideas.empty() ? "" : applied(program, ideas.front());
}

/// Whether `line` stands in front of the label.
bool in_front(const std::string& text, std::string_view line) { return text.find(line) < text.find(".L_0:"); }

} // namespace

TEST(HoistInvariants, AChainOfUnchangingValuesLeavesTheLoopAndItsReadersFollow) {
  const std::string text = hoisted(loop_with("v_rcp_f32_e32 v3, v1\n"
                                             "s_nop 0\n"
                                             "v_fma_f32 v4, -v1, v3, 1.0\n"
                                             "v_fma_f32 v5, v4, v3, v3\n"
                                             "v_add_f32_e32 v2, v2, v5\n"));
  ASSERT_FALSE(text.empty());
  EXPECT_TRUE(in_front(text, "v_rcp_f32"));
  EXPECT_TRUE(in_front(text, "v_fma_f32"));
  EXPECT_FALSE(in_front(text, "v_add_f32"));
  EXPECT_EQ(text.find("v_fma_f32", text.find(".L_0:")), text.npos) << text;
}

TEST(HoistInvariants, WhatReadsSomethingThatChangesStays) {
  EXPECT_EQ(hoisted(loop_with("v_add_f32_e32 v3, v1, v2\nv_add_f32_e32 v2, v2, v3\n")), "");
  EXPECT_EQ(hoisted(loop_with("v_add_u32_e32 v3, s4, v1\nv_add_f32_e32 v2, v2, v3\n")), "");
  EXPECT_EQ(
      hoisted(loop_with("v_cmp_lt_f32_e32 vcc, v2, v1\nv_cndmask_b32_e32 v3, 0, v1, vcc\nv_add_f32_e32 v2, v2, v3\n")),
      "");
}

TEST(HoistInvariants, ARegisterThatIsWantedElsewhereStays) {
  // Behind the loop, across iterations, and together with what other instructions leave in it.
  EXPECT_EQ(hoisted(loop_with("v_rcp_f32_e32 v3, v1\n", "s_add_u32 s4, s4, 1\ns_cmp_lt_u32 s4, 9\ns_cbranch_scc1 top\n"
                                                        "v_mov_b32_e32 v2, v3\n")),
            "");
  EXPECT_EQ(hoisted(loop_with("v_add_f32_e32 v2, v2, v3\nv_rcp_f32_e32 v3, v1\n")), "");
  EXPECT_EQ(hoisted(loop_with("v_rcp_f32_e32 v3, v1\nv_fmac_f32_e32 v3, v2, v2\nv_add_f32_e32 v2, v2, v3\n")), "");
}

TEST(HoistInvariants, WhatLooksAtOtherLanesOrAtMemoryStays) {
  EXPECT_EQ(hoisted(loop_with("v_mov_b32_dpp v3, v1 row_shr:1 row_mask:0xf bank_mask:0xf\nv_add_f32_e32 v2, v2, v3\n")),
            "");
  EXPECT_EQ(hoisted(loop_with("v_readfirstlane_b32 s5, v1\nv_add_f32_e32 v2, s5, v2\n")), "");
  EXPECT_EQ(hoisted(loop_with("global_load_dword v3, v0, s[0:1]\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v2, v2, v3\n")), "");
}

TEST(HoistInvariants, LanesThatTheLoopGainsKeepTheirComputation) {
  const std::string work = "v_rcp_f32_e32 v3, v1\nv_add_f32_e32 v2, v2, v3\n";
  EXPECT_EQ(hoisted(loop_with("s_mov_b64 exec, s[6:7]\n" + work)), "");
  EXPECT_EQ(hoisted(loop_with("s_or_b64 exec, exec, s[6:7]\n" + work)), "");
  EXPECT_NE(hoisted(loop_with("s_and_saveexec_b64 s[6:7], s[8:9]\n" + work + "s_or_b64 exec, exec, s[6:7]\n")), "");
  EXPECT_NE(hoisted(loop_with(work, "s_andn2_b64 exec, exec, s[8:9]\ns_cbranch_execnz top\n")), "");
}

TEST(HoistInvariants, ALoopThatIsEnteredFromTwoPlacesStays) {
  const std::string text = "v_mov_b32_e32 v1, 3.0\nv_mov_b32_e32 v2, 0\ns_mov_b32 s4, 0\ns_cmp_eq_u32 s5, 0\n"
                           "s_cbranch_scc1 top\nv_mov_b32_e32 v2, 1.0\ntop:\nv_rcp_f32_e32 v3, v1\n"
                           "v_add_f32_e32 v2, v2, v3\ns_add_u32 s4, s4, 1\ns_cmp_lt_u32 s4, 9\ns_cbranch_scc1 top\n"
                           "global_store_dword v0, v2, s[0:1]\ns_endpgm\n";
  EXPECT_EQ(hoisted(text), "");
}
