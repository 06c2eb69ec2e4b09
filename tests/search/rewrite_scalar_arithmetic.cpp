// What goes to the scalar unit, what stays, and that lanes get what they got.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

const std::string before = "v_mbcnt_lo_u32_b32 v0, -1, 0\n"
                           "v_mbcnt_hi_u32_b32 v0, -1, v0\n"
                           "v_lshlrev_b32_e32 v8, 2, v0\n"
                           "s_movk_i32 s4, 0x1234\n"
                           "v_cvt_f32_u32_e32 v1, s4\n"
                           "v_cvt_u32_f32_e32 v1, v1\n"; // the same in every lane, in the vector unit
const std::string after = "global_store_dword v8, v2, s[0:1]\n"
                          "s_endpgm\n";

/// The program after the one idea; empty where there is none.
std::string changed(const std::string& body) {
  const std::string text = before + body + after;
  const recover::Program program = program_of(text);
  const auto ideas = scalar_arithmetic(facts_of(program));
  EXPECT_LE(ideas.size(), 1u);
  if (ideas.empty()) return "";
  const std::string result = applied(program, ideas.front());
  EXPECT_EQ(results_of(result), results_of(text)) << result;
  return result;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

const std::string refinement = "v_mul_lo_u32 v2, s4, v1\n"
                               "v_mul_hi_u32 v2, v1, v2\n"
                               "v_add_u32_e32 v2, v1, v2\n";

} // namespace

TEST(ScalarArithmetic, ARefinedReciprocalIsMultipliedByTheScalarUnit) {
  const std::string text = changed(refinement + "v_mul_hi_u32 v2, v0, v2\n");
  EXPECT_TRUE(has(text, "v_readfirstlane_b32")) << text;
  EXPECT_TRUE(has(text, "s_mul_i32") && has(text, "s_mul_hi_u32") && has(text, "s_add_i32")) << text;
  EXPECT_FALSE(has(text, "v_mul_lo_u32")) << text;
}

TEST(ScalarArithmetic, WhatMustBeInAVectorRegisterIsMovedThere) {
  EXPECT_TRUE(has(changed(refinement), "v_mov_b32_e32 v2, s")); // a store reads it
  // Another scalar register is read already.
  EXPECT_TRUE(has(changed(refinement + "v_add3_u32 v2, v0, v2, s4\n"), "v_mov_b32_e32 v2, s"));
  EXPECT_TRUE(has(changed(refinement + "v_add_u32_e32 v2, 0x1234567, v2\n"), "v_mov_b32_e32 v2, s"));
  EXPECT_TRUE(has(changed(refinement + "v_mov_b32_dpp v2, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n"),
                  "v_mov_b32_e32 v2, s"));
}

TEST(ScalarArithmetic, AnOperandInTheSecondPlaceTakesTheLongForm) {
  EXPECT_TRUE(has(changed(refinement + "v_sub_u32_e32 v2, v0, v2\n"), "v_sub_u32_e64 v2, v0, s"));
}

TEST(ScalarArithmetic, ShiftsAndDifferencesTurnTheirOperands) {
  EXPECT_TRUE(has(changed(refinement + "v_subrev_u32_e32 v2, s4, v2\nv_lshlrev_b32_e32 v2, 3, v2\n"
                                       "v_ashrrev_i32_e32 v2, 1, v2\nv_lshrrev_b32_e32 v2, 1, v2\n"
                                       "v_xor_b32_e32 v2, v0, v2\n"),
                  "s_lshl_b32"));
}

TEST(ScalarArithmetic, OtherLanesKeepWhatTheyHad) {
  EXPECT_TRUE(has(changed("v_mov_b32_e32 v2, 7\n"
                          "v_cmp_lt_u32_e32 vcc, 20, v0\n"
                          "s_and_saveexec_b64 s[6:7], vcc\n" +
                          std::string("v_mul_lo_u32 v3, s4, s4\n") + "v_mul_lo_u32 v2, s4, v3\n" +
                          "s_or_b64 exec, exec, s[6:7]\n"),
                  "v_mov_b32_e32 v2, s"));
}

TEST(ScalarArithmetic, WhatDiffersBetweenLanesStays) {
  EXPECT_EQ(changed("v_mul_lo_u32 v2, v0, v1\nv_mul_hi_u32 v2, v0, v2\n"), "");
  EXPECT_EQ(changed("v_cmp_lt_u32_e32 vcc, 9, v0\nv_cndmask_b32_e64 v3, 1, 2, vcc\nv_mul_lo_u32 v2, v3, v1\n"
                    "v_mul_hi_u32 v2, v3, v2\n"),
            "");
  EXPECT_EQ(changed("global_load_dword v3, v8, s[0:1]\ns_waitcnt vmcnt(0)\nv_mul_lo_u32 v2, v3, v3\n"
                    "v_mul_lo_u32 v2, v2, v3\n"),
            "");
}

TEST(ScalarArithmetic, AValueOfAnotherExecStays) {
  // v1 is the same in all lanes that wrote it, but others are switched on before it is read.
  EXPECT_EQ(changed("v_cmp_lt_u32_e32 vcc, 9, v0\ns_and_saveexec_b64 s[6:7], vcc\nv_cvt_f32_u32_e32 v1, s4\n"
                    "s_or_b64 exec, exec, s[6:7]\nv_mul_lo_u32 v2, v1, v1\nv_mul_hi_u32 v2, v1, v2\n"),
            "");
}

TEST(ScalarArithmetic, SccThatIsWantedIsNotOverwritten) {
  const std::string text = changed("v_mul_lo_u32 v3, s4, v1\nv_mul_hi_u32 v3, v1, v3\ns_cmp_eq_u32 s4, 1\n"
                                   "v_add_u32_e32 v2, v1, v3\ns_cselect_b32 s5, 7, 9\nv_add_u32_e32 v2, s5, v2\n");
  EXPECT_TRUE(has(text, "s_mul_hi_u32")) << text;
  EXPECT_FALSE(has(text, "s_add_i32")) << text;
}

TEST(ScalarArithmetic, WhatWinsTooLittleStays) {
  EXPECT_EQ(changed("v_add_u32_e32 v2, s4, v1\nv_add_u32_e32 v2, v0, v2\n"), "");
}
