#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

TEST(DropExecSkips, ABranchAroundVectorCodeGoes) {
  recover::Program program = program_of("s_and_saveexec_b64 s[2:3], vcc\n"
                                        "s_cbranch_execz .Lskip\n"
                                        "v_add_f32_e32 v2, 1.0, v2\n"
                                        ".Lskip:\n"
                                        "s_or_b64 exec, exec, s[2:3]\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  std::vector<Idea> ideas = drop_exec_skips(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  EXPECT_EQ(applied(program, ideas[0]).find("s_cbranch"), std::string::npos);
}

TEST(DropExecSkips, ABranchAroundAScalarWriteStays) {
  recover::Program program = program_of("s_and_saveexec_b64 s[2:3], vcc\n"
                                        "s_cbranch_execz .Lskip\n"
                                        "v_cmp_gt_f32_e32 vcc, 0, v2\n"
                                        ".Lskip:\n"
                                        "s_or_b64 exec, exec, s[2:3]\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  EXPECT_TRUE(drop_exec_skips(facts_of(program)).empty());
}

TEST(DropExecSkips, ALabelThatSomethingElseBranchesToStays) {
  recover::Program program = program_of("s_cbranch_scc1 .Lskip\n"
                                        "s_and_saveexec_b64 s[2:3], vcc\n"
                                        "s_cbranch_execz .Lskip\n"
                                        "v_add_f32_e32 v2, 1.0, v2\n"
                                        ".Lskip:\n"
                                        "s_or_b64 exec, exec, s[2:3]\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  std::vector<Idea> ideas = drop_exec_skips(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  EXPECT_NE(applied(program, ideas[0]).find(".L_0:"), std::string::npos);
}
