#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

std::string loop_of(const std::string& body) {
  return "s_mov_b32 s2, 3\n"
         ".Lloop:\n" +
         body +
         "s_sub_i32 s2, s2, 1\n"
         "s_cmp_lg_u32 s2, 0\n"
         "s_cbranch_scc1 .Lloop\n"
         "s_nop 15\n"
         "v_lshlrev_b32_e32 v20, 2, v0\n"
         "global_store_dword v20, v4, s[0:1]\n"
         "s_endpgm\n";
}

const std::string two = "v_mfma_f32_4x4x1_16b_f32 v[4:7], v0, v1, v[4:7]\n"
                        "v_add_u32_e32 v12, 1, v0\n"
                        "v_mfma_f32_4x4x1_16b_f32 v[8:11], v0, v1, v[8:11]\n";

} // namespace

TEST(RaisePriority, MatrixInstructionsOfALoopRunAtAHigherPriority) {
  const recover::Program program = program_of(loop_of(two));
  const auto ideas = raise_priority(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  const std::string text = applied(program, ideas[0]);
  const size_t up = text.find("s_setprio 1"), down = text.find("s_setprio 0");
  ASSERT_NE(up, std::string::npos) << text;
  EXPECT_LT(up, text.find("v_mfma"));
  EXPECT_GT(down, text.rfind("v_mfma"));
  EXPECT_EQ(results_of(text), results_of(loop_of(two)));
}

TEST(RaisePriority, OneMatrixInstructionIsNotWorthIt) {
  EXPECT_TRUE(
      raise_priority(facts_of(program_of(loop_of("v_mfma_f32_4x4x1_16b_f32 v[4:7], v0, v1, v[4:7]\n")))).empty());
}

TEST(RaisePriority, AKernelThatSetsPrioritiesIsLeftAlone) {
  EXPECT_TRUE(raise_priority(facts_of(program_of("s_setprio 2\n" + loop_of(two)))).empty());
}
