// Values that are made again instead of kept where that lets another wave run, and the same results.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

const std::string lane = "v_mbcnt_lo_u32_b32 v0, -1, 0\n"
                         "v_mbcnt_hi_u32_b32 v0, -1, v0\n"
                         "v_lshlrev_b32_e32 v1, 4, v0\n";
const std::string end = "global_store_dword v1, v2, s[0:1]\ns_endpgm\n";

/// Values in v`first` and behind that are all wanted at once: products, which are not made again.
std::string crowd(unsigned first, unsigned count) {
  std::string text;
  for (unsigned v = 0; v < count; ++v) text += fmt::format("v_mul_lo_u32 v{}, v0, {}\n", first + v, 3 + v % 60);
  text += fmt::format("v_mov_b32_e32 v2, v{}\n", first);
  for (unsigned v = 0; v < count; ++v) text += fmt::format("v_lshl_add_u32 v2, v2, 1, v{}\n", first + v);
  return text;
}
/// The value in `vgpr` is wanted behind the crowd.
std::string use(unsigned vgpr) { return fmt::format("v_xor_b32_e32 v2, v2, v{}\n", vgpr); }

/// The program after the one idea, which does the same in 64 registers; empty where there is none.
std::string changed(const std::string& text, uint32_t vgprs = 68) {
  const recover::Program program = program_of(text, vgprs);
  const auto ideas = rematerialise(facts_of(program));
  EXPECT_LE(ideas.size(), 1u);
  if (ideas.empty()) return "";
  const std::string result = applied(program, ideas.front());
  EXPECT_EQ(results_of(result), results_of(text)) << result;
  EXPECT_LE(facts_of(program_of(result, 64)).vgprs_used, 64u) << result;
  return result;
}

/// v3 to v6 hold `made` (of v3, ...) over a crowd of 60: 67 registers at once.
std::string over(const std::function<std::string(unsigned)>& made, const std::string& between = "") {
  std::string text = lane;
  for (unsigned v = 3; v < 7; ++v) text += made(v);
  text += between + crowd(7, 60);
  for (unsigned v = 3; v < 7; ++v) text += use(v);
  return text + use(0) + end;
}
std::string sum(unsigned vgpr) { return fmt::format("v_add_u32_e32 v{}, {}, v0\n", vgpr, 1000 + vgpr); }

} // namespace

TEST(Rematerialise, ConstantsAndSumsAreMadeAgainBehindTheCrowd) {
  const std::string text = changed(over(sum));
  EXPECT_NE(text, "");
  EXPECT_NE(changed(over([](unsigned v) { return fmt::format("v_mov_b32_e32 v{}, {:#x}\n", v, 0x12345 + v); })), "");
}

TEST(Rematerialise, ScalarsAreSourcesWhileTheyStay) {
  const auto scalar = [](unsigned v) { return fmt::format("v_mov_b32_e32 v{}, s{}\n", v, v); };
  EXPECT_NE(changed("s_mov_b32 s3, 5\ns_mov_b32 s4, 6\ns_mov_b32 s5, 7\ns_mov_b32 s6, 8\n" + over(scalar)), "");
  EXPECT_EQ(changed("s_mov_b32 s3, 5\ns_mov_b32 s4, 6\ns_mov_b32 s5, 7\ns_mov_b32 s6, 8\n" +
                    over(scalar, "s_mov_b32 s3, 0\ns_mov_b32 s4, 0\ns_mov_b32 s5, 0\ns_mov_b32 s6, 0\n")),
            "");
}

TEST(Rematerialise, ALoopBehindTheCrowdMakesThemAgainToo) {
  std::string text = lane;
  for (unsigned v = 3; v < 7; ++v) text += sum(v);
  text += crowd(7, 60) + "s_mov_b32 s4, 3\nagain:\n";
  for (unsigned v = 3; v < 7; ++v) text += use(v) + "v_add_u32_e32 v2, 1, v2\n";
  EXPECT_NE(changed(text + "s_sub_i32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 again\n" + use(0) + end), "");
}

TEST(Rematerialise, WhatIsSlowIsKept) {
  EXPECT_EQ(changed(over([](unsigned v) { return fmt::format("v_mul_lo_u32 v{}, v0, {}\n", v, 30 + v); })), "");
}

TEST(Rematerialise, WhatComesFromSourcesThatAreGoneIsKept) {
  // v7 is the first of the crowd.
  EXPECT_EQ(changed(over([](unsigned v) {
              return fmt::format("v_xor_b32_e32 v7, 3, v0\nv_mul_lo_u32 v7, v7, v7\n"
                                 "v_add_u32_e32 v{0}, {0}, v7\n",
                                 v);
            })),
            "");
}

TEST(Rematerialise, WhatOtherPathsMadeDifferentIsKept) {
  std::string text = lane;
  for (unsigned v = 3; v < 7; ++v) text += sum(v);
  text += "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 join\n";
  for (unsigned v = 3; v < 7; ++v) text += fmt::format("v_mov_b32_e32 v{0}, {0}\n", v);
  text += "join:\n" + crowd(7, 60);
  for (unsigned v = 3; v < 7; ++v) text += use(v);
  EXPECT_EQ(changed(text + end), "");
}

TEST(Rematerialise, NothingIsMadeAgainWhereLanesMayBeOff) {
  std::string text = lane;
  for (unsigned v = 3; v < 7; ++v) text += sum(v);
  text += crowd(7, 60) + "v_cmp_lt_u32_e32 vcc, 20, v0\ns_and_saveexec_b64 s[6:7], vcc\n";
  for (unsigned v = 3; v < 7; ++v) text += use(v);
  EXPECT_EQ(changed(text + "s_or_b64 exec, exec, s[6:7]\n" + end), "");
}

TEST(Rematerialise, NothingIsMadeAgainFarFromAStepOrWhereCompactionDoes) {
  std::string text = lane;
  for (unsigned v = 3; v < 7; ++v) text += sum(v);
  std::string small = text + crowd(7, 40), sparse = small;
  for (unsigned v = 3; v < 7; ++v) small += use(v);
  EXPECT_EQ(changed(small + end, 48), "");
  EXPECT_EQ(changed(small + "v_mov_b32_e32 v66, v2\nv_mov_b32_e32 v2, v66\n" + end), "");
}
