#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// A loop as compilers lay it out: latch, header, guarded `body`.
std::string latch_first(const std::string& body, const std::string& behind = ".Ldone:\n") {
  return "s_mov_b64 s[4:5], 0\n"
         "s_branch .Lheader\n"
         ".Llatch:\n"
         "s_or_b64 exec, exec, s[6:7]\n"
         "v_add_u32_e32 v2, 1, v2\n"
         "v_cmp_le_i32_e32 vcc, s9, v2\n"
         "s_or_b64 s[4:5], vcc, s[4:5]\n"
         "s_andn2_b64 exec, exec, s[4:5]\n"
         "s_cbranch_execz .Ldone\n"
         ".Lheader:\n"
         "v_cmp_gt_i32_e32 vcc, s8, v2\n"
         "s_and_saveexec_b64 s[6:7], vcc\n"
         "s_cbranch_execz .Llatch\n" +
         body + "s_branch .Llatch\n" + behind +
         "s_or_b64 exec, exec, s[4:5]\n"
         "global_store_dword v[0:1], v3, off\n"
         "s_endpgm\n";
}

} // namespace

TEST(StraightenLoops, ALatchInFrontMovesBehindTheBodyAndTheSkipGoes) {
  const recover::Program program = program_of(latch_first("v_add_u32_e32 v3, v2, v3\n"));
  const std::vector<Idea> ideas = straighten_loops(facts_of(program));
  ASSERT_EQ(ideas.size(), 2u);
  EXPECT_EQ(applied(program, ideas[0]), "s_mov_b64 s[4:5], 0\n"
                                        ".L_1:\n"
                                        "v_cmp_gt_i32_e32 vcc, s8, v2\n"
                                        "s_and_saveexec_b64 s[6:7], vcc\n"
                                        "v_add_u32_e32 v3, v2, v3\n"
                                        "s_or_b64 exec, exec, s[6:7]\n"
                                        "v_add_u32_e32 v2, 1, v2\n"
                                        "v_cmp_le_i32_e32 vcc, s9, v2\n"
                                        "s_or_b64 s[4:5], vcc, s[4:5]\n"
                                        "s_andn2_b64 exec, exec, s[4:5]\n"
                                        "s_cbranch_execnz .L_1\n"
                                        ".L_2:\n"
                                        "s_or_b64 exec, exec, s[4:5]\n"
                                        "global_store_dword v[0:1], v3, off\n"
                                        "s_endpgm\n");
}

TEST(StraightenLoops, ASkipAroundAScalarEffectStays) {
  const recover::Program program = program_of(latch_first("s_add_i32 s10, s10, 1\nv_mov_b32_e32 v3, s10\n"));
  const std::vector<Idea> ideas = straighten_loops(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  const std::string text = applied(program, ideas[0]);
  EXPECT_NE(text.find("s_cbranch_execz .L_0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("s_cbranch_execnz .L_1\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("s_branch"), std::string::npos) << text;
}

TEST(StraightenLoops, WhereTheExitIsNotNextTheLoopJumpsThere) {
  const recover::Program program =
      program_of(latch_first("v_add_u32_e32 v3, v2, v3\n", "global_store_dword v[0:1], v4, off\ns_endpgm\n.Ldone:\n"));
  const std::vector<Idea> ideas = straighten_loops(facts_of(program));
  ASSERT_FALSE(ideas.empty());
  const std::string text = applied(program, ideas[0]);
  EXPECT_NE(text.find("s_cbranch_execnz .L_1\ns_branch .L_2\nglobal_store_dword v[0:1], v4, off\n"), std::string::npos)
      << text;
}

TEST(StraightenLoops, ALoopThatIsTestedAtItsTopIsEnteredByABranch) {
  const recover::Program program = program_of("s_mov_b32 s4, 0\n"
                                              ".Ltop:\n"
                                              "s_cmp_ge_i32 s4, s5\n"
                                              "s_cbranch_scc1 .Ldone\n"
                                              "v_add_u32_e32 v2, 1, v2\n"
                                              "s_add_i32 s4, s4, 1\n"
                                              "s_branch .Ltop\n"
                                              ".Ldone:\n"
                                              "global_store_dword v[0:1], v2, off\n"
                                              "s_endpgm\n");
  const std::vector<Idea> ideas = straighten_loops(facts_of(program));
  ASSERT_FALSE(ideas.empty());
  EXPECT_EQ(applied(program, ideas[0]), "s_mov_b32 s4, 0\n"
                                        "s_branch .L_0\n"
                                        ".L_0_again:\n"
                                        "v_add_u32_e32 v2, 1, v2\n"
                                        "s_add_i32 s4, s4, 1\n"
                                        ".L_0:\n"
                                        "s_cmp_ge_i32 s4, s5\n"
                                        "s_cbranch_scc0 .L_0_again\n"
                                        ".L_1:\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
}

TEST(StraightenLoops, ALoopWithoutADetourStaysAsItIs) {
  EXPECT_TRUE(straighten_loops(facts_of(program_of(".Lagain:\n"
                                                   "v_add_u32_e32 v2, 1, v2\n"
                                                   "s_add_i32 s4, s4, -1\n"
                                                   "s_cmp_lg_u32 s4, 0\n"
                                                   "s_cbranch_scc1 .Lagain\n"
                                                   "global_store_dword v[0:1], v2, off\n"
                                                   "s_endpgm\n")))
                  .empty());
}
