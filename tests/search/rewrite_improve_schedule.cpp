#include "search/drivers/rewrite/order_moves.h"
#include "search/drivers/rewrite/rules.h"

#include "analysis/dependence.h"
#include "rewrite_run.h"
#include "rewrite_timed.h"

#include <numeric>

using namespace asmevo;
using namespace asmevo::search;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// Each load of the loop is waited for before the next is issued, and there is work that needs none of them.
const std::string waits_too_early = "v_lshlrev_b32_e32 v0, 4, v0\n"
                                    "v_mov_b32_e32 v10, 0\n"
                                    "v_mov_b32_e32 v11, 1.0\n"
                                    "s_movk_i32 s2, 100\n"
                                    ".Lloop:\n"
                                    "global_load_dword v1, v0, s[0:1]\n"
                                    "s_waitcnt vmcnt(0)\n"
                                    "v_add_u32_e32 v10, v10, v1\n"
                                    "global_load_dword v2, v0, s[0:1] offset:4\n"
                                    "s_waitcnt vmcnt(0)\n"
                                    "v_xor_b32_e32 v10, v10, v2\n"
                                    "v_mul_f32_e32 v11, 0.5, v11\n"
                                    "v_add_f32_e32 v11, 1.0, v11\n"
                                    "v_mul_f32_e32 v11, 0.5, v11\n"
                                    "v_add_f32_e32 v11, 1.0, v11\n"
                                    "s_sub_i32 s2, s2, 1\n"
                                    "s_cmp_lg_u32 s2, 0\n"
                                    "s_cbranch_scc1 .Lloop\n"
                                    "v_add_u32_e32 v10, v10, v11\n"
                                    "global_store_dword v0, v10, s[0:1] offset:1024\n"
                                    "s_endpgm\n";

analysis::DependenceGraph graph_of(const recover::Program& program) {
  const recover::Function& function = program.functions.front();
  const analysis::Graph graph = analysis::control_flow(program, function);
  return analysis::dependences(program, function, graph.blocks[0].first, graph.blocks[0].last);
}

std::vector<uint32_t> in_order(const analysis::DependenceGraph& graph) {
  std::vector<uint32_t> order(graph.items.size());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

} // namespace

TEST(OrderMoves, WhatAnInstructionNeedsMovesWithIt) {
  const recover::Program program = program_of("v_mov_b32_e32 v5, 1\n"         // 0
                                              "v_mov_b32_e32 v6, 2\n"         // 1
                                              "v_lshlrev_b32_e32 v1, 2, v0\n" // 2
                                              "v_add_u32_e32 v2, 4, v1\n"     // 3, needs 2
                                              "s_endpgm\n");
  const analysis::DependenceGraph graph = graph_of(program);
  EXPECT_EQ(moved(graph, in_order(graph), 3, 3), (std::vector<uint32_t>{2, 3, 0, 1, 4}));
  EXPECT_EQ(moved(graph, in_order(graph), 3, 2), (std::vector<uint32_t>{0, 2, 3, 1, 4}));
}

TEST(OrderMoves, WhatNeedsAnInstructionMovesBehindIt) {
  const recover::Program program = program_of("v_lshlrev_b32_e32 v1, 2, v0\n" // 0
                                              "v_add_u32_e32 v2, 4, v1\n"     // 1, needs 0
                                              "v_mov_b32_e32 v5, 1\n"         // 2
                                              "v_mov_b32_e32 v6, 2\n"         // 3
                                              "s_endpgm\n");
  const analysis::DependenceGraph graph = graph_of(program);
  EXPECT_EQ(moved(graph, in_order(graph), 0, -3), (std::vector<uint32_t>{2, 3, 0, 1, 4}));
}

TEST(OrderMoves, WhatCannotPassAnythingDoesNotMove) {
  const recover::Program program = program_of("v_lshlrev_b32_e32 v1, 2, v0\n"
                                              "v_add_u32_e32 v1, 4, v1\n"
                                              "s_endpgm\n");
  const analysis::DependenceGraph graph = graph_of(program);
  EXPECT_FALSE(moved(graph, in_order(graph), 1, 1));
  EXPECT_FALSE(moved(graph, in_order(graph), 0, 4));
  EXPECT_FALSE(moved(graph, in_order(graph), 0, -4));
}

TEST(OrderMoves, EveryMoveKeepsEveryDependence) {
  const recover::Program program = program_of(waits_too_early);
  const recover::Function& function = program.functions.front();
  for (const analysis::Block& block : analysis::control_flow(program, function).blocks) {
    const analysis::DependenceGraph graph = analysis::dependences(program, function, block.first, block.last);
    for (size_t place = 0; place < graph.items.size(); ++place)
      for (const int by : {1, 2, 5, 100, -1, -2, -5, -100})
        if (const auto order = moved(graph, in_order(graph), place, by)) {
          EXPECT_TRUE(graph.allows(*order)) << place << " by " << by;
          EXPECT_FALSE(std::ranges::is_sorted(*order));
        }
  }
}

TEST(ImproveSchedule, LoadsThatWaitForEachOtherAreTakenApart) {
  const Timed timed(waits_too_early);
  const auto ideas = improve_schedule(timed.facts());
  ASSERT_FALSE(ideas.empty());
  const std::string text = applied(timed.program, ideas[0]);
  EXPECT_EQ(results_of(text, 0, 64, true), results_of(waits_too_early, 0, 64, true)) << text;
  const Timed after(text);
  EXPECT_LT(after.estimate.kernel_cycles, 0.75 * timed.estimate.kernel_cycles) << text;
}

TEST(ImproveSchedule, TheSameProgramHasTheSameIdeas) {
  const Timed timed(waits_too_early);
  const auto once = improve_schedule(timed.facts()), again = improve_schedule(timed.facts());
  ASSERT_EQ(once.size(), again.size());
  for (size_t i = 0; i < once.size(); ++i) {
    ASSERT_EQ(once[i].edits.size(), again[i].edits.size());
    for (size_t e = 0; e < once[i].edits.size(); ++e) EXPECT_EQ(once[i].edits[e].text, again[i].edits[e].text);
  }
}

TEST(ImproveSchedule, WhatIsBestAsItIsStaysAsItIs) {
  const Timed timed("v_lshlrev_b32_e32 v0, 4, v0\n"
                    "global_load_dword v1, v0, s[0:1]\n"
                    "s_waitcnt vmcnt(0)\n"
                    "v_add_u32_e32 v10, v10, v1\n"
                    "global_store_dword v0, v10, s[0:1] offset:1024\n"
                    "s_endpgm\n");
  EXPECT_TRUE(improve_schedule(timed.facts()).empty());
}

TEST(ImproveSchedule, WhatWasNotTracedIsLeftAlone) {
  EXPECT_TRUE(improve_schedule(facts_of(program_of(waits_too_early))).empty());
}
