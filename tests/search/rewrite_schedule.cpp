#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

TEST(ScheduleBlocks, ALoadMovesBeforeIndependentWork) {
  recover::Program program = program_of("v_add_u32_e32 v3, 1, v4\n"
                                        "v_mul_lo_u32 v3, v3, v3\n"
                                        "global_load_dword v2, v[0:1], off\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "v_add_u32_e32 v2, v2, v3\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  std::vector<Idea> ideas = schedule_blocks(facts_of(program));
  ASSERT_FALSE(ideas.empty());
  std::string text = applied(program, ideas[0]);
  EXPECT_EQ(text.find("global_load_dword"), 0u) << text;
  EXPECT_LT(text.find("v_mul_lo_u32"), text.find("s_waitcnt vmcnt(0)")) << text;
}

TEST(ScheduleBlocks, NothingCrossesABarrier) {
  recover::Program program = program_of("ds_write_b32 v0, v2\n"
                                        "s_waitcnt lgkmcnt(0)\n"
                                        "s_barrier\n"
                                        "ds_read_b32 v3, v1\n"
                                        "v_add_u32_e32 v4, 1, v4\n"
                                        "s_waitcnt lgkmcnt(0)\n"
                                        "v_add_u32_e32 v3, v3, v4\n"
                                        "ds_write_b32 v0, v3\n"
                                        "s_endpgm\n");
  for (const Idea& idea : schedule_blocks(facts_of(program))) {
    std::string text = applied(program, idea);
    EXPECT_LT(text.find("ds_write_b32 v0, v2"), text.find("s_barrier")) << text;
    EXPECT_LT(text.find("s_barrier"), text.find("ds_read_b32")) << text;
  }
}
