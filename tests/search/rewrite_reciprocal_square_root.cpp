#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

TEST(ReciprocalSquareRoot, TheReciprocalOfARootIsOneInstruction) {
  recover::Program program = program_of("v_sqrt_f32_e32 v3, v2\n"
                                        "s_nop 0\n"
                                        "v_rcp_f32_e32 v4, v3\n"
                                        "global_store_dword v[0:1], v4, off\n"
                                        "s_endpgm\n");
  std::vector<Idea> ideas = reciprocal_square_root(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  std::string text = applied(program, ideas[0]);
  EXPECT_NE(text.find("v_rsq_f32_e32 v4, v2"), std::string::npos) << text;
  EXPECT_EQ(text.find("v_sqrt_f32"), std::string::npos) << text;
}

TEST(ReciprocalSquareRoot, AnArgumentThatWasOverwrittenKeepsBoth) {
  recover::Program program = program_of("v_sqrt_f32_e32 v2, v2\n"
                                        "s_nop 0\n"
                                        "v_rcp_f32_e32 v4, v2\n"
                                        "global_store_dword v[0:1], v4, off\n"
                                        "s_endpgm\n");
  EXPECT_TRUE(reciprocal_square_root(facts_of(program)).empty());
}
