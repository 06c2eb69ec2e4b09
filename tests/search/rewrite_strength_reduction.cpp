// Multiplications that become something cheaper, and those that must not.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// v1 has high bits in every lane, and the last lanes low ones; v2 is what `product` makes of it.
std::string body_with(const std::string& product, const std::string& before = "") {
  return "v_mul_u32_u24_e32 v1, 0x9e3779, v0\nv_add_u32_e32 v1, 0x80000003, v1\nv_mov_b32_e32 v2, 0\n"
         "v_mov_b32_e32 v3, 0\n" +
         before + product + "v_lshlrev_b32_e32 v0, 3, v0\nglobal_store_dwordx2 v0, v[2:3], s[0:1]\ns_endpgm\n";
}

std::string after(const std::string& body) {
  const recover::Program program = program_of(body);
  const std::vector<Idea> ideas = strength_reduction(facts_of(program));
  return ideas.empty() ? "(none)" : applied(program, ideas[0]);
}

void expect_same(const std::string& body, const std::string& expected) {
  const std::string text = after(body);
  EXPECT_NE(text.find(expected), text.npos) << text;
  EXPECT_EQ(text.find("v_mul_lo_u32"), text.npos) << text;
  ASSERT_NE(text, "(none)") << body;
  EXPECT_EQ(results_of(text).value(), results_of(body).value()) << text;
}

} // namespace

TEST(StrengthReduction, ByOneOrTwoPowersOfTwoIsAShiftAndASum) {
  for (const auto& [n, expected] :
       {std::pair{"0", "v_mov_b32_e32 v2, 0\n"}, std::pair{"1", "v1"}, std::pair{"16", "v_lshlrev_b32_e32 v2, 4, v1\n"},
        std::pair{"3", "v_lshl_add_u32 v2, v1, 1, v1\n"}, std::pair{"48", "v_lshl_add_u32 v2, v1, 1, v1\n"},
        std::pair{"7", "v_sub_u32_e32 v2, v2, v1\n"}, std::pair{"56", "v_sub_u32_e32 v2, v2, v1\n"},
        std::pair{"-1", "v_sub_u32_e32 v2, 0, v1\n"}, std::pair{"-16", "v_sub_u32_e32 v2, 0, v1\n"}}) {
    expect_same(body_with(fmt::format("v_mul_lo_u32 v2, v1, {}\n", n)), expected);
    expect_same(body_with(fmt::format("v_mul_lo_u32 v2, {}, v1\n", n)), expected);
  }
}

TEST(StrengthReduction, ConstantsInRegistersOfTheBlockCount) {
  expect_same(body_with("v_mul_lo_u32 v2, v1, s4\n", "s_movk_i32 s4, 0x300\n"), "v_lshl_add_u32 v2, v1, 1, v1\n");
  expect_same(body_with("v_mul_lo_u32 v2, v1, s4\n", "s_movk_i32 s4, 0x8000\n"), "v_sub_u32_e32 v2, 0, v1\n");
  expect_same(body_with("v_mul_lo_u32 v2, v1, v4\n", "v_mov_b32_e32 v4, 0x80000000\n"),
              "v_lshlrev_b32_e32 v2, 31, v1\n");
  EXPECT_EQ(after(body_with("v_mul_lo_u32 v2, v1, s4\n", "s_movk_i32 s4, 0x300\ns_add_u32 s4, s4, s0\n")), "(none)");
  EXPECT_EQ(after(body_with("v_mul_lo_u32 v2, v1, v4\n",
                            "s_mov_b32 exec_lo, 7\nv_mov_b32_e32 v4, 8\ns_mov_b32 exec_lo, -1\n")),
            "(none)");
}

TEST(StrengthReduction, WhatIsNeededTwiceOrIsNoSuchNumberStays) {
  EXPECT_EQ(after(body_with("v_mul_lo_u32 v1, v1, 7\nv_mov_b32_e32 v2, v1\n")), "(none)");
  EXPECT_EQ(after(body_with("v_mul_lo_u32 v2, v1, 11\n")), "(none)");
  EXPECT_EQ(after(body_with("v_mul_lo_u32 v2, v1, v0\n")), "(none)");
  EXPECT_EQ(after(body_with("v_mul_lo_u32 v2, v1, 1.0\n")), "(none)");
}

TEST(StrengthReduction, FactorsThatFit24BitsAreMultipliedAsSuch) {
  for (const char* known : {"v_and_b32_e32 v4, 0xffffff, v1\n", "v_bfe_u32 v4, v1, 3, 24\n",
                            "v_lshrrev_b32_e32 v4, 8, v1\n", "global_load_ushort v4, v0, s[0:1]\ns_waitcnt vmcnt(0)\n"})
    expect_same(body_with("v_mul_lo_u32 v2, v4, v5\n", std::string(known) + "v_lshrrev_b32_e32 v5, 12, v1\n"),
                "v_mul_u32_u24");
  for (const char* unknown :
       {"v_and_b32_e32 v4, 0x1ffffff, v1\n", "v_bfe_u32 v4, v1, 3, 25\n", "v_lshrrev_b32_e32 v4, 7, v1\n",
        "v_ashrrev_i32_e32 v4, 8, v1\n", "v_lshrrev_b32_e32 v4, 8, v1\nv_lshlrev_b32_e32 v4, 1, v4\n",
        "s_mov_b32 exec_lo, 7\nv_lshrrev_b32_e32 v4, 8, v1\ns_mov_b32 exec_lo, -1\n"})
    EXPECT_EQ(after(body_with("v_mul_lo_u32 v2, v4, v5\n", std::string(unknown) + "v_lshrrev_b32_e32 v5, 12, v1\n")),
              "(none)")
        << unknown;
}

TEST(StrengthReduction, SumsOf64BitsWhoseLowerHalfIsAllThatIsWanted) {
  const std::string factors = "v_lshrrev_b32_e32 v4, 8, v1\nv_lshrrev_b32_e32 v5, 12, v1\nv_mov_b32_e32 v6, v1\n"
                              "v_mov_b32_e32 v7, 0\n";
  expect_same(body_with("v_mad_u64_u32 v[4:5], s[4:5], v4, v5, v[6:7]\nv_mov_b32_e32 v2, v4\n", factors),
              "v_mad_u32_u24");
  expect_same(body_with("v_mad_u64_u32 v[4:5], s[4:5], v1, 8, v[6:7]\nv_mov_b32_e32 v2, v4\n", factors),
              "v_lshl_add_u32 v4, v1, 3, v1\n");
  EXPECT_EQ(after(body_with("v_mad_u64_u32 v[2:3], s[4:5], v4, v5, v[6:7]\n", factors)), "(none)");
  EXPECT_EQ(after(body_with("v_mad_u64_u32 v[4:5], s[4:5], v1, v5, v[6:7]\nv_mov_b32_e32 v2, v4\n", factors)),
            "(none)");
  EXPECT_EQ(after(body_with("v_mad_u64_u32 v[4:5], s[4:5], v4, v5, v[6:7]\nv_mov_b32_e32 v2, s4\n", factors)),
            "(none)");
}

TEST(StrengthReduction, ScalarProductsBecomeShiftsWhereNobodyReadsScc) {
  const std::string product = "s_mul_i32 s4, s4, 32\n", use = "v_add_u32_e32 v2, s4, v1\n";
  const std::string start = "v_readlane_b32 s4, v1, 9\n";
  expect_same(body_with(product + use, start), "s_lshl_b32 s4, s4, 5\n");
  EXPECT_EQ(after(body_with(product + "s_cselect_b32 s5, 1, 2\nv_mov_b32_e32 v3, s5\n" + use,
                            start + "s_cmp_lt_u32 s4, 9\n")),
            "(none)");
  EXPECT_EQ(after(body_with("s_mul_i32 s4, s4, 33\n" + use, start)), "(none)");
}
