#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

TEST(UnguardedExp, TheDenormalGuardOfAnExponentialGoes) {
  recover::Program program = program_of("v_mul_f32_e32 v5, 0x3fb8aa3b, v4\n"
                                        "v_cmp_gt_f32_e32 vcc, s2, v5\n"
                                        "s_nop 1\n"
                                        "v_cndmask_b32_e32 v3, 0, v8, vcc\n"
                                        "v_fmac_f32_e32 v3, 0x3fb8aa3b, v4\n"
                                        "v_exp_f32_e32 v3, v3\n"
                                        "v_cndmask_b32_e32 v6, 0, v9, vcc\n"
                                        "v_ldexp_f32 v3, v3, v6\n"
                                        "global_store_dword v[0:1], v3, off\n"
                                        "s_endpgm\n");
  std::vector<Idea> ideas = unguarded_exp(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  std::string text = applied(program, ideas[0]);
  EXPECT_EQ(text.find("v_ldexp_f32"), std::string::npos) << text;
  EXPECT_EQ(text.find("v_cndmask"), std::string::npos) << text;
  EXPECT_NE(text.find("v_mul_f32_e32 v3, 0x3fb8aa3b, v4"), std::string::npos) << text;
}
