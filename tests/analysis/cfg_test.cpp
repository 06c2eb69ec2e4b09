#include "analysis/cfg.h"

#include "assemble.h"

namespace asmevo::analysis {
namespace {

Graph graph_of(const recover::Program& program) { return control_flow(program, program.functions[0]); }

using Successors = std::vector<uint32_t>;

TEST(ControlFlow, a_conditional_branch_has_two_successors) {
  const auto program = assemble("s_cbranch_scc1 end\ns_nop 0\nend:\ns_endpgm");
  const Graph graph = graph_of(program);
  ASSERT_EQ(graph.blocks.size(), 3u);
  EXPECT_EQ(graph.blocks[0].successors, (Successors{1, 2}));
  EXPECT_EQ(graph.blocks[1].successors, (Successors{2}));
  EXPECT_TRUE(graph.blocks[2].exits);
  EXPECT_EQ(graph.blocks[2].predecessors, (Successors{0, 1}));
}

TEST(ControlFlow, a_loop_goes_back_to_its_label) {
  const auto program = assemble("loop:\ns_nop 0\ns_cbranch_scc1 loop\ns_endpgm");
  const Graph graph = graph_of(program);
  ASSERT_EQ(graph.blocks.size(), 2u);
  EXPECT_EQ(graph.blocks[0].successors, (Successors{0, 1}));
}

TEST(ControlFlow, a_call_ends_its_block_and_returns_to_the_next) {
  const auto program = assemble("s_swappc_b64 s[30:31], s[4:5]\ns_endpgm");
  const Graph graph = graph_of(program);
  ASSERT_EQ(graph.blocks.size(), 2u);
  EXPECT_EQ(graph.blocks[0].successors, (Successors{1}));
  EXPECT_FALSE(graph.blocks[0].unknown || graph.blocks[0].exits);
}

TEST(ControlFlow, an_indirect_jump_in_a_kernel_may_reach_every_label) {
  const auto program = assemble("s_setpc_b64 s[4:5]\na:\ns_endpgm\nb:\ns_endpgm");
  const Graph graph = graph_of(program);
  EXPECT_TRUE(graph.blocks[0].unknown);
  EXPECT_EQ(graph.blocks[0].successors, (Successors{1, 2}));
}

TEST(ControlFlow, an_indirect_jump_in_a_device_function_returns) {
  const auto program = assemble("s_setpc_b64 s[30:31]\na:\ns_endpgm", isa::Processor::gfx942, -1);
  const Graph graph = graph_of(program);
  EXPECT_TRUE(graph.blocks[0].returns);
  EXPECT_TRUE(graph.blocks[0].successors.empty());
}

TEST(ControlFlow, a_far_branch_has_the_target_that_its_address_names) {
  auto program = assemble("s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 16\ns_addc_u32 s5, s5, 0\ns_setpc_b64 s[4:5]\n"
                          "a:\ns_endpgm\nb:\ns_endpgm");
  program.items[1].target = "b";
  const Graph graph = graph_of(program);
  EXPECT_FALSE(graph.blocks[0].unknown);
  EXPECT_EQ(graph.blocks[0].successors, (Successors{2}));
}

TEST(ControlFlow, running_past_the_end_is_seen) {
  const auto program = assemble("s_nop 0");
  EXPECT_TRUE(graph_of(program).blocks[0].falls_off);
}

TEST(ControlFlow, reverse_postorder_begins_at_the_entry_and_keeps_unreached_blocks) {
  const auto program = assemble("s_branch b\na:\ns_endpgm\nb:\ns_endpgm");
  const Graph graph = graph_of(program);
  EXPECT_EQ(reverse_postorder(graph), (Successors{0, 2, 1}));
  EXPECT_EQ(reachable(graph), (std::vector<bool>{true, false, true}));
}

} // namespace
} // namespace asmevo::analysis
