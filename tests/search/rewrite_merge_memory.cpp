#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"
#include "rewrite_private.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

TEST(MergeMemory, TwoNeighbouringLoadsBecomeOneWideLoad) {
  recover::Program program = program_of("global_load_dword v5, v[0:1], off\n"
                                        "global_load_dword v9, v[0:1], off offset:4\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "v_add_f32_e32 v2, v5, v9\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  std::vector<Idea> ideas = merge_memory(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  std::string text = applied(program, ideas[0]);
  EXPECT_NE(text.find("global_load_dwordx2"), std::string::npos) << text;
  EXPECT_EQ(text.find("v_mov_b32"), std::string::npos) << "the moves are propagated away\n" << text;
}

TEST(MergeMemory, LdsReadsFromOneBaseBecomeARead2) {
  recover::Program program = program_of("ds_read_b32 v5, v0 offset:8\n"
                                        "ds_read_b32 v9, v0 offset:64\n"
                                        "s_waitcnt lgkmcnt(0)\n"
                                        "v_add_f32_e32 v2, v5, v9\n"
                                        "ds_write_b32 v0, v2\n"
                                        "s_endpgm\n");
  std::string text = applied(program, merge_memory(facts_of(program)).at(0));
  EXPECT_NE(text.find("offset0:2 offset1:16"), std::string::npos) << text;
}

TEST(MergeMemory, LdsWritesTakeUnrelatedRegisters) {
  recover::Program program = program_of("ds_write_b32 v0, v5 offset:4\n"
                                        "ds_write_b32 v0, v9 offset:12\n"
                                        "s_endpgm\n");
  std::string text = applied(program, merge_memory(facts_of(program)).at(0));
  EXPECT_NE(text.find("ds_write2_b32 v0, v5, v9 offset0:1 offset1:3"), std::string::npos) << text;
}

TEST(MergeMemory, AStoreBetweenTwoLoadsKeepsThemApart) {
  recover::Program program = program_of("global_load_dword v5, v[0:1], off\n"
                                        "global_store_dword v[6:7], v4, off\n"
                                        "global_load_dword v9, v[0:1], off offset:4\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "v_add_f32_e32 v2, v5, v9\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  EXPECT_TRUE(merge_memory(facts_of(program)).empty());
}

TEST(MergeMemory, AnAddressThatChangesInBetweenKeepsLoadsApart) {
  recover::Program program = program_of("global_load_dword v5, v[0:1], off\n"
                                        "v_add_u32_e32 v0, 16, v0\n"
                                        "global_load_dword v9, v[0:1], off offset:4\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "v_add_f32_e32 v2, v5, v9\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  EXPECT_TRUE(merge_memory(facts_of(program)).empty());
}

TEST(MergeMemory, NeighboursInPrivateMemoryDoNotLieSideBySide) {
  const PrivateKernel kernel{isa::Processor::gfx90a};
  const auto ideas = [&](const std::string& descriptor) {
    const recover::Program program = kernel.program(descriptor + "buffer_store_dword v0, off, s[0:3], 0\n"
                                                                 "buffer_store_dword v1, off, s[0:3], 0 offset:4\n"
                                                                 "s_endpgm\n");
    return merge_memory(kernel.facts(program)).size();
  };
  EXPECT_EQ(ideas(""), 0u);
  EXPECT_EQ(ideas("v_mov_b32_e32 v5, s1\n"), 0u);
  EXPECT_EQ(ideas("s_mov_b64 s[0:1], s[8:9]\ns_movk_i32 s2, 0x400\ns_mov_b32 s3, 0x27000\n"), 1u);
}
