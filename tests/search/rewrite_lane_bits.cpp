// Conditions that go through bits of vector registers: what they become, and which stay.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// v1 is no number in every third lane, v2 in every fifth.
const std::string numbers =
    "v_cvt_f32_u32_e32 v1, v0\nv_mov_b32_e32 v2, v1\nv_mov_b32_e32 v9, 0x7fc00000\n"
    "v_mul_u32_u24_e32 v3, 0x5556, v0\nv_lshrrev_b32_e32 v3, 16, v3\nv_mul_u32_u24_e32 v3, 3, v3\n"
    "v_cmp_eq_u32_e32 vcc, v3, v0\nv_cndmask_b32_e32 v1, v1, v9, vcc\n"
    "v_mul_u32_u24_e32 v3, 0x3334, v0\nv_lshrrev_b32_e32 v3, 16, v3\nv_mul_u32_u24_e32 v3, 5, v3\n"
    "v_cmp_eq_u32_e32 vcc, v3, v0\nv_cndmask_b32_e32 v2, v2, v9, vcc\n";
const std::string chain = "v_cmp_u_f32_e64 s[4:5], v1, v1\n"
                          "v_mov_b32_e32 v7, v1\n"
                          "v_cndmask_b32_e64 v5, 0, 1, s[4:5]\n"
                          "v_cmp_u_f32_e64 s[4:5], v2, v2\n"
                          "v_lshlrev_b16_e32 v5, 1, v5\n"
                          "v_cndmask_b32_e64 v1, 0, 1, s[4:5]\n"
                          "v_or_b32_e32 v5, v1, v5\n"
                          "v_and_b32_e32 v5, 3, v5\n"
                          "v_cmp_ne_u16_e64 s[6:7], 0, v5\n";
const std::string end = "v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v5, 0\n"
                        "v_cndmask_b32_e64 v2, 3, 4, s[6:7]\nv_mov_b32_e32 v3, s6\n"
                        "v_lshlrev_b32_e32 v0, 3, v0\nglobal_store_dwordx2 v0, v[2:3], s[0:1]\ns_endpgm\n";

std::string after(const std::string& body) {
  const recover::Program program = program_of(body);
  const std::vector<Idea> ideas = lane_bits(facts_of(program));
  return ideas.empty() ? "(none)" : applied(program, ideas[0]);
}

std::string changed(std::string text, const std::string& part, const std::string& by) {
  text.replace(text.find(part), part.size(), by);
  return text;
}

} // namespace

TEST(LaneBits, TwoNumbersAreLookedAtByOneInstruction) {
  const std::string text = after(numbers + chain + end);
  EXPECT_NE(text.find("v_cmp_u_f32_e64 s[6:7], v2, v1\n"), text.npos) << text;
  for (const char* gone : {"s[4:5]", "v_or_b32", "v_lshlrev_b16", "v_cmp_ne_u16"})
    EXPECT_EQ(text.find(gone), text.npos) << gone << text;
}

TEST(LaneBits, TheConditionIsTheSameInWhateverLanes) {
  for (const char* mask : {"-1", "0x5a5a", "0"}) {
    const std::string body = numbers + fmt::format("s_mov_b64 s[8:9], exec\ns_mov_b32 exec_lo, {}\n", mask) + chain +
                             "s_mov_b64 exec, s[8:9]\n" + end;
    const std::string text = after(body);
    ASSERT_NE(text, "(none)");
    EXPECT_EQ(results_of(text).value(), results_of(body).value()) << text;
  }
}

TEST(LaneBits, BitsThatAreMaskedAwayOrShiftedOutAreNoPartOfIt) {
  EXPECT_EQ(after(numbers + changed(chain, "v5, 3, v5", "v5, 1, v5") + end), "(none)");
  EXPECT_EQ(after(numbers + changed(chain, "v_lshlrev_b16_e32 v5, 1", "v_lshlrev_b16_e32 v5, 16") + end), "(none)");
  const std::string inner =
      changed(chain, "v_or_b32_e32 v5, v1, v5\n", "v_and_b32_e32 v1, 2, v1\nv_or_b32_e32 v5, v1, v5\n");
  EXPECT_EQ(after(numbers + inner + end), "(none)");
}

TEST(LaneBits, WhatOthersReadStays) {
  const std::string body = numbers + chain + end;
  EXPECT_EQ(after(changed(body, "v_mov_b32_e32 v5, 0\n", "v_mov_b32_e32 v8, v5\nv_mov_b32_e32 v5, 0\n")), "(none)");
  EXPECT_NE(after(changed(body, "v_mov_b32_e32 v3, s6", "v_mov_b32_e32 v3, v5")), "(none)"); // the later v5
  EXPECT_EQ(after(changed(body, "v_mov_b32_e32 v1, 0\n", "v_mov_b32_e32 v8, v1\nv_mov_b32_e32 v1, 0\n")), "(none)");
}

TEST(LaneBits, ConditionsOfOtherKindsOrOfChangedNumbersStay) {
  const std::string body = numbers + chain + end;
  for (const auto& [part, by] :
       {std::pair{"v_cmp_u_f32_e64 s[4:5], v1, v1", "v_cmp_u_f32_e64 s[4:5], v1, v2"},
        std::pair{"v_cmp_u_f32_e64 s[4:5], v1, v1", "v_cmp_lt_f32_e64 s[4:5], v1, v1"},
        std::pair{"v_cmp_u_f32_e64 s[4:5], v1, v1", "v_cmp_u_f32_e64 s[4:5], |v1|, v1"},
        std::pair{"v5, 0, 1, s[4:5]", "v5, 1, 0, s[4:5]"}, std::pair{"v5, 0, 1, s[4:5]", "v5, 0, 2, s[4:5]"},
        std::pair{"v_mov_b32_e32 v7, v1", "v_mov_b32_e32 v1, 0"},
        std::pair{"v_mov_b32_e32 v7, v1", "s_mov_b32 exec_lo, 7"}, std::pair{"v_cmp_ne_u16_e64", "v_cmp_ne_i16_e64"},
        std::pair{"v_cmp_ne_u16_e64", "v_cmp_gt_u16_e64"}})
    EXPECT_EQ(after(changed(body, part, by)), "(none)") << part << " " << by;
}
