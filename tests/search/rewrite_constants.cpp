// What is computed from known numbers, and where it is not known.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

const std::string end = "v_lshlrev_b32_e32 v0, 3, v0\nglobal_store_dwordx2 v0, v[2:3], s[0:1]\ns_endpgm\n";
/// v1 is another number in every lane; v[2:3] are stored.
std::string with(const std::string& body) {
  return "v_mul_u32_u24_e32 v1, 0x9e3779, v0\nv_mov_b32_e32 v2, v1\nv_mov_b32_e32 v3, v0\ns_branch go\ngo:\n" + body +
         end;
}

std::string after(const std::string& body) {
  const recover::Program program = program_of(body);
  const std::vector<Idea> ideas = constants(facts_of(program));
  return ideas.empty() ? "(none)" : applied(program, ideas[0]);
}

void expect_same(const std::string& part, const std::string& expected) {
  const std::string body = with(part), text = after(body);
  ASSERT_NE(text, "(none)") << body;
  EXPECT_NE(text.find(expected), text.npos) << text;
  EXPECT_EQ(results_of(text).value(), results_of(body).value()) << text;
}

} // namespace

TEST(Constants, IntegerArithmeticOnKnownNumbersIsDone) {
  for (const auto& [operation, result] :
       {std::pair{"v_add_u32_e32 v2, 9, v4", "0x1002"}, std::pair{"v_sub_u32_e32 v2, 9, v4", "0xfffff010"},
        std::pair{"v_subrev_u32_e32 v2, 9, v4", "0xff0"}, std::pair{"v_mul_lo_u32 v2, v4, 9", "0x8fc1"},
        std::pair{"v_mul_u32_u24_e32 v2, 9, v4", "0x8fc1"}, std::pair{"v_and_b32_e32 v2, 9, v4", "9"},
        std::pair{"v_or_b32_e32 v2, 9, v4", "0xff9"}, std::pair{"v_xor_b32_e32 v2, 9, v4", "0xff0"},
        std::pair{"v_lshlrev_b32_e32 v2, 9, v4", "0x1ff200"}, std::pair{"v_lshrrev_b32_e32 v2, 9, v4", "7"},
        std::pair{"v_ashrrev_i32_e32 v2, 9, v4", "7"}, std::pair{"v_max_u32_e32 v2, 9, v4", "0xff9"},
        std::pair{"v_min_u32_e32 v2, 9, v4", "9"}})
    expect_same(fmt::format("v_mov_b32_e32 v4, 0xff9\n{}\n", operation), fmt::format("v_mov_b32_e32 v2, {}\n", result));
  expect_same("s_movk_i32 s4, 0x8000\ns_ashr_i32 s4, s4, 3\ns_add_i32 s4, s4, 1\nv_add_u32_e32 v2, s4, v1\n",
              "v_add_u32_e32 v2, 0xfffff001, v1\n");
}

TEST(Constants, WhatChangesNothingIsACopy) {
  for (const char* part :
       {"v_add_u32_e32 v2, 0, v1\n", "v_sub_u32_e64 v2, v1, 0\n", "v_mul_lo_u32 v2, v1, 1\n",
        "v_and_b32_e32 v2, -1, v1\n", "v_or_b32_e32 v2, 0, v1\n", "v_xor_b32_e32 v2, 0, v1\n",
        "v_lshlrev_b32_e32 v2, 0, v1\n", "v_ashrrev_i32_e32 v2, 0, v1\n", "v_max_u32_e32 v2, 0, v1\n",
        "v_min_u32_e32 v2, -1, v1\n", "v_mov_b32_e32 v4, 0\nv_add_u32_e32 v2, v4, v1\n"})
    expect_same(part, "v_mov_b32_e32 v2, v1\n");
  for (const char* part :
       {"v_sub_u32_e32 v2, 0, v1\n", "v_mul_u32_u24_e32 v2, 1, v1\n", "v_lshlrev_b32_e64 v2, v1, 1\n",
        "v_add_u32_e64 v2, v1, 0 clamp\n", "v_add_f32_e32 v2, 0, v1\n"})
    EXPECT_EQ(after(with(part)), "(none)") << part;
}

TEST(Constants, InstructionsNameNumbersThatCostThemNothing) {
  expect_same("v_mov_b32_e32 v4, 7\nv_xor_b32_e32 v2, v1, v4\n", "v_xor_b32_e32 v2, 7, v1\n");
  expect_same("v_mov_b32_e32 v4, 1.0\nv_sub_f32_e32 v2, v1, v4\n", "v_subrev_f32_e32 v2, 1.0, v1\n");
  expect_same("v_mov_b32_e32 v4, 7\nv_bfe_u32 v2, v1, v4, v4\n", "v_bfe_u32 v2, v1, 7, 7\n");
  expect_same("v_mov_b32_e32 v4, 7\nv_lshlrev_b32_e32 v2, v0, v4\n", "v_lshlrev_b32_e64 v2, v0, 7\n");
  expect_same("v_mov_b32_e32 v4, 7\nv_cmp_lt_u32_e32 vcc, v4, v0\nv_cndmask_b32_e32 v2, v0, v1, vcc\n",
              "v_cmp_lt_u32_e32 vcc, 7, v0\n");
  expect_same("s_mov_b32 s4, 0x12345\ns_and_b32 s5, s0, s4\nv_mov_b32_e32 v4, s5\nv_sub_u32_e32 v2, v4, v4\n",
              "s_and_b32 s5, s0, 0x12345\n");
  // A word of its own is worth it only where the register is then needed no more.
  expect_same("v_mov_b32_e32 v4, 0x12345\nv_xor_b32_e32 v2, v1, v4\n", "v_xor_b32_e32 v2, 0x12345, v1\n");
  EXPECT_EQ(after(with("v_mov_b32_e32 v4, 0x12345\nv_xor_b32_e32 v2, v1, v4\nv_xor_b32_e32 v3, v0, v4\n")), "(none)");
  EXPECT_EQ(after(with("v_mov_b32_e32 v4, 7\nv_mov_b32_e32 v2, v4\nv_mul_lo_u16_e32 v3, v4, v1\n")), "(none)");
  EXPECT_EQ(after(with("v_mov_b32_e32 v4, 0x12345\nv_bfi_b32 v2, v4, v1, v0\n")), "(none)");
}

TEST(Constants, NumbersAreForgottenWhereTheyMayBeOthers) {
  for (const char* part :
       {"s_set_gpr_idx_on s0, gpr_idx(DST)\nv_mov_b32_e32 v4, 7\ns_set_gpr_idx_off\nv_xor_b32_e32 v2, v1, v4\n",
        "v_mov_b32_e32 v4, 7\nv_mov_b32_e32 v4, v1\nv_xor_b32_e32 v2, v1, v4\n",
        "s_mov_b32 exec_lo, 7\nv_mov_b32_e32 v4, 7\ns_mov_b32 exec_lo, -1\nv_xor_b32_e32 v2, v1, v4\n",
        "s_mov_b32 s4, 7\ns_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_xor_b32_e32 v2, s4, v1\n",
        "v_mov_b32_e32 v4, 7\nv_add_u16_e32 v2, v1, v4\n",
        "v_mov_b32_e32 v4, 7\ns_swappc_b64 s[30:31], s[4:5]\nv_xor_b32_e32 v2, v1, v4\n",
        "v_mov_b32_e32 v4, 7\nv_xor_b32_sdwa v2, v1, v4 dst_sel:DWORD\n"})
    EXPECT_EQ(after(with(part)), "(none)") << part;
}

TEST(Constants, ScalarArithmeticWhoseSccIsReadStays) {
  const std::string read = "s_cselect_b32 s5, 1, 2\nv_mov_b32_e32 v3, s5\nv_mov_b32_e32 v2, s4\n";
  EXPECT_EQ(after(with("s_add_u32 s4, s2, 0\n" + read)), "(none)");
  expect_same("s_lshr_b32 s4, s0, 8\ns_or_b32 s4, s4, 0\nv_add_u32_e32 v2, s4, v1\n",
              "s_lshr_b32 s4, s0, 8\nv_add_u32_e32 v2, s4, v1\n");
}
