#include "analysis/loops.h"

#include "assemble.h"

namespace asmevo::analysis {
namespace {

struct Found {
  recover::Program program;
  Graph graph;
  std::vector<Loop> loops;

  explicit Found(const std::string& text)
      : program(assemble(text)), graph(control_flow(program, program.functions[0])),
        loops(analysis::loops(program, program.functions[0], graph)) {}
};

std::optional<uint64_t> iterations(const std::string& text) {
  const Found found(text);
  EXPECT_EQ(found.loops.size(), 1u) << text;
  return found.loops.empty() ? std::nullopt : found.loops[0].iterations;
}

TEST(Dominators, what_every_path_leads_through_dominates) {
  const Found found("s_cbranch_scc0 right\ns_nop 0\ns_branch join\nright:\ns_nop 1\njoin:\ns_endpgm");
  const Dominators dominators(found.graph);
  ASSERT_EQ(found.graph.blocks.size(), 4u);
  EXPECT_TRUE(dominators.dominates(0, 3));
  EXPECT_FALSE(dominators.dominates(1, 3));
  EXPECT_FALSE(dominators.dominates(2, 3));
  EXPECT_TRUE(dominators.dominates(3, 3));
  EXPECT_EQ(dominators.immediate(3), 0u);
  EXPECT_FALSE(dominators.immediate(0));
}

TEST(Loops, a_loop_in_a_loop_is_deeper) {
  const Found found("s_mov_b32 s4, 0\nouter:\ns_mov_b32 s5, 8\ninner:\ns_sub_u32 s5, s5, 2\ns_cmp_lg_u32 s5, 0\n"
                    "s_cbranch_scc1 inner\ns_add_u32 s4, s4, 1\ns_cmp_lt_u32 s4, 3\ns_cbranch_scc1 outer\ns_endpgm");
  ASSERT_EQ(found.loops.size(), 2u);
  EXPECT_EQ(found.loops[0].depth, 1u);
  EXPECT_EQ(found.loops[0].iterations, 3u);
  EXPECT_EQ(found.loops[1].depth, 2u);
  EXPECT_EQ(found.loops[1].iterations, 4u);
  EXPECT_TRUE(found.loops[0].contains(found.loops[1].header));
}

TEST(Loops, a_branch_into_the_middle_of_a_cycle_makes_none) {
  EXPECT_TRUE(
      Found("s_cbranch_scc0 middle\ntop:\ns_nop 0\nmiddle:\ns_nop 1\ns_cbranch_scc1 top\ns_endpgm").loops.empty());
}

TEST(Loops, a_counter_from_constant_to_constant_says_how_often) {
  const auto down = [](const std::string& start, const std::string& step, const std::string& test) {
    return start + "\nl:\n" + step + "\n" + test + "\ns_cbranch_scc1 l\ns_endpgm";
  };
  EXPECT_EQ(iterations(down("s_movk_i32 s8, 0x1000", "s_sub_u32 s8, s8, 1", "s_cmp_lg_u32 s8, 0")), 4096u);
  EXPECT_EQ(iterations(down("s_mov_b32 s8, 0", "s_addk_i32 s8, 3", "s_cmpk_lt_i32 s8, 10")), 4u);
  EXPECT_EQ(iterations(down("s_mov_b32 s8, -4", "s_add_i32 s8, s8, 1", "s_cmp_lt_i32 s8, 0")), 4u);
  EXPECT_EQ(iterations(down("s_mov_b32 s8, 0\ns_mov_b32 s9, 7", "s_add_u32 s8, s8, 1", "s_cmp_lt_u32 s8, s9")), 7u);
  // The step behind the test, and a branch out instead of back.
  EXPECT_EQ(iterations("s_mov_b32 s8, 0\nl:\ns_cmp_eq_u32 s8, 5\ns_addk_i32 s9, 1\ns_cmp_eq_u32 s8, 5\n"
                       "s_cbranch_scc1 out\ns_branch l\nout:\ns_endpgm"),
            std::nullopt); // nothing changes s8
  EXPECT_EQ(iterations("s_mov_b32 s8, 0\nl:\ns_add_u32 s8, s8, 1\ns_cmp_gt_u32 5, s8\ns_cbranch_scc0 out\n"
                       "s_branch l\nout:\ns_endpgm"),
            std::nullopt); // the latch is not the block that leaves
  EXPECT_EQ(iterations(down("s_mov_b32 s8, 0", "s_add_u32 s8, s8, 1", "s_cmp_gt_u32 5, s8")), 5u);
}

TEST(Loops, what_may_count_otherwise_says_nothing) {
  // From an argument; a second way out; a step on some paths; two steps; a counter that a call may change.
  EXPECT_EQ(iterations("s_load_dword s8, s[0:1], 0x0\nl:\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 l\n"
                       "s_endpgm"),
            std::nullopt);
  EXPECT_EQ(iterations("s_mov_b32 s8, 4\nl:\ns_cbranch_vccz out\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\n"
                       "s_cbranch_scc1 l\nout:\ns_endpgm"),
            std::nullopt);
  EXPECT_EQ(iterations("s_mov_b32 s8, 4\nl:\ns_cbranch_vccz skip\ns_sub_u32 s8, s8, 1\nskip:\ns_cmp_lg_u32 s8, 0\n"
                       "s_cbranch_scc1 l\ns_endpgm"),
            std::nullopt);
  EXPECT_EQ(iterations("s_mov_b32 s8, 4\nl:\ns_sub_u32 s8, s8, 1\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\n"
                       "s_cbranch_scc1 l\ns_endpgm"),
            std::nullopt);
  EXPECT_EQ(iterations("s_mov_b32 s8, 4\nl:\ns_swappc_b64 s[30:31], s[16:17]\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\n"
                       "s_cbranch_scc1 l\ns_endpgm"),
            std::nullopt);
  EXPECT_EQ(iterations("s_cbranch_scc0 other\ns_mov_b32 s8, 4\ns_branch l\nother:\ns_mov_b32 s8, 6\nl:\n"
                       "s_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 l\ns_endpgm"),
            std::nullopt);
}

} // namespace
} // namespace asmevo::analysis
