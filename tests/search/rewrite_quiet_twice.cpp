#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

std::string after(const std::string& body) {
  const recover::Program program = program_of(body + "global_store_dword v[0:1], v2, off\ns_endpgm\n");
  const std::vector<Idea> ideas = quiet_twice(facts_of(program));
  return ideas.empty() ? "(none)" : applied(program, ideas[0]);
}

} // namespace

TEST(QuietTwice, WhatArithmeticHasComputedIsCanonical) {
  EXPECT_EQ(after("v_add_f32_e32 v3, v4, v5\nv_max_f32_e32 v2, v3, v3\n"),
            "v_add_f32_e32 v3, v4, v5\nglobal_store_dword v[0:1], v3, off\ns_endpgm\n");
}

TEST(QuietTwice, SoIsItBehindOtherLanes) {
  const std::string text = after("v_max_f32_e32 v3, v4, v5\nds_bpermute_b32 v6, v7, v3\ns_waitcnt lgkmcnt(0)\n"
                                 "v_max_f32_e32 v6, v6, v6\nv_max_f32_e32 v2, v3, v6\n");
  EXPECT_EQ(text.find("v_max_f32_e32 v6, v6, v6"), text.npos) << text;
  EXPECT_NE(text.find("v_max_f32_e32 v2, v3, v6\n"), text.npos) << text;
}

TEST(QuietTwice, WhatComesFromMemoryMayBeAnything) {
  EXPECT_EQ(after("global_load_dword v3, v[0:1], off\ns_waitcnt vmcnt(0)\nv_max_f32_e32 v2, v3, v3\n"), "(none)");
}

TEST(QuietTwice, WhatIntegersMakeMayBeAnything) {
  EXPECT_EQ(after("v_or_b32_e32 v3, v4, v5\nv_max_f32_e32 v2, v3, v3\n"), "(none)");
}

TEST(QuietTwice, AnotherSignIsNoCopy) {
  EXPECT_EQ(after("v_add_f32_e32 v3, v4, v5\nv_max_f32_e64 v2, |v3|, |v3|\n"), "(none)");
  EXPECT_EQ(after("v_add_f32_e32 v3, v4, v5\nv_max_f32_e64 v2, v3, v3 clamp\n"), "(none)");
}

TEST(QuietTwice, AnotherLaneMayHoldSomethingElse) {
  EXPECT_EQ(after("v_cmp_gt_u32_e32 vcc, 8, v0\ns_and_saveexec_b64 s[4:5], vcc\nv_add_f32_e32 v3, v4, v5\n"
                  "s_or_b64 exec, exec, s[4:5]\nv_max_f32_e32 v2, v3, v3\n"),
            "(none)");
}

TEST(QuietTwice, WhereTheModeChangesNothingIsKnown) {
  EXPECT_EQ(after("v_add_f32_e32 v3, v4, v5\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0\n"
                  "v_max_f32_e32 v2, v3, v3\n"),
            "(none)");
}
