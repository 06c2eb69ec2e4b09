// Loops whose loads run an iteration ahead: what they look like, that they compute what they did however often they
// run, and that nothing is loaded that was not (what lies behind the last load is not mapped).
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

constexpr std::string_view store = "v_lshlrev_b32_e32 v0, 3, v0\n"
                                   "global_store_dwordx2 v0, v[2:3], s[0:1]\n"
                                   "s_endpgm\n";

/// A loop that takes 256 bytes an iteration, from a register of its own.
std::string loop(unsigned iterations, std::string_view body) {
  return fmt::format("v_lshlrev_b32_e32 v6, 2, v0\n"
                     "v_xor_b32_e32 v7, 4, v6\n"
                     "v_mov_b32_e32 v8, v6\n"
                     "v_mov_b32_e32 v3, 0\n"
                     "s_mov_b32 s4, 0\n"
                     "s_add_u32 s5, s4, {}\n"
                     "again:\n"
                     "{}"
                     "v_add_u32_e32 v8, 0x100, v8\n"
                     "s_add_i32 s4, s4, 1\n"
                     "s_cmp_lt_i32 s4, s5\n"
                     "s_cbranch_scc1 again\n"
                     "{}",
                     iterations, body, store);
}

constexpr std::string_view through_lds = "v_add_u32_e32 v9, 0, v8\n"
                                         "global_load_dword v1, v9, s[0:1]\n"
                                         "s_waitcnt vmcnt(0)\n"
                                         "ds_write_b32 v6, v1\n"
                                         "s_waitcnt lgkmcnt(0)\n"
                                         "s_barrier\n"
                                         "ds_read_b32 v2, v7\n"
                                         "v_mul_lo_u32 v3, v3, 33\n"
                                         "s_waitcnt lgkmcnt(0)\n"
                                         "v_add_u32_e32 v3, v3, v2\n"
                                         "s_barrier\n";
constexpr std::string_view direct = "global_load_dword v1, v8, s[0:1]\n"
                                    "v_mul_lo_u32 v3, v3, 33\n"
                                    "s_waitcnt vmcnt(0)\n"
                                    "v_xor_b32_e32 v2, v1, v3\n"
                                    "v_add_u32_e32 v3, v3, v2\n";

size_t ideas_for(std::string_view body) {
  const recover::Program program = program_of(loop(5, body));
  return pipeline_loops(facts_of(program)).size();
}

/// Two ideas for one iteration ahead, one for two and one for three.
void expect_same_results(std::string_view body, size_t count) {
  for (unsigned iterations = 1; iterations <= 16; ++iterations) {
    const std::string text = loop(iterations, body);
    const recover::Program program = program_of(text);
    const auto expected = results_of(text, 256, 64, true);
    ASSERT_TRUE(expected);
    const std::vector<Idea> ideas = pipeline_loops(facts_of(program));
    EXPECT_EQ(ideas.size(), count);
    for (const Idea& idea : ideas) {
      const std::string after = applied(program, idea);
      const auto found = results_of(after, 256, 64, true);
      ASSERT_TRUE(found) << after;
      EXPECT_EQ(*expected, *found) << iterations << "\n" << after;
    }
  }
}

std::string ahead(const std::string& text) {
  return text.substr(text.find("by_2:"), text.find("s_cbranch_scc1 .L_0_by_2\n") - text.find("by_2:"));
}

void expect_four_that_leave_the_same(const std::string& text, int rounds) {
  const recover::Program program = program_of(text);
  const auto expected = results_of(text, 0, 64, true);
  ASSERT_TRUE(expected);
  const std::vector<Idea> ideas = pipeline_loops(facts_of(program));
  EXPECT_EQ(ideas.size(), 4u);
  for (const Idea& idea : ideas) {
    const std::string after = applied(program, idea);
    const auto found = results_of(after, 0, 64, true);
    ASSERT_TRUE(found) << after;
    EXPECT_EQ(*expected, *found) << rounds << "\n" << after;
  }
}

} // namespace

TEST(PipelineLoops, LoadsComeBetweenTheWriteToLdsAndTheArithmetic) {
  const recover::Program program = program_of(loop(5, through_lds));
  const std::vector<Idea> ideas = pipeline_loops(facts_of(program));
  ASSERT_FALSE(ideas.empty());
  const std::string round = ahead(applied(program, ideas[0]));
  EXPECT_LT(round.find("ds_write_b32"), round.find("global_load_dword")) << round;
  EXPECT_LT(round.find("global_load_dword"), round.find("v_mul_lo_u32")) << round;
  EXPECT_EQ(round.find("v_mov_b32"), round.npos) << round;
}

TEST(PipelineLoops, LoadsComeBeforeArithmeticWhereTheirResultsAreCopied) {
  const recover::Program program = program_of(loop(5, direct));
  const std::vector<Idea> ideas = pipeline_loops(facts_of(program));
  ASSERT_GE(ideas.size(), 2u);
  const std::string round = ahead(applied(program, ideas[1]));
  EXPECT_LT(round.find("global_load_dword"), round.find("v_xor_b32")) << round;
}

TEST(PipelineLoops, ComputeTheSameHoweverOftenTheyRun) {
  expect_same_results(through_lds, 4);
  expect_same_results(direct, 4);
}

TEST(PipelineLoops, ComputeTheSameWhereEachLaneCountsForItself) {
  for (unsigned limit = 1; limit <= 1024; limit += 93) {
    const std::string text = fmt::format("v_lshlrev_b32_e32 v8, 2, v0\n"
                                         "v_mov_b32_e32 v2, 0\n"
                                         "v_mov_b32_e32 v3, 0\n"
                                         "v_mov_b32_e32 v9, v0\n"
                                         "s_mov_b64 s[4:5], 0\n"
                                         "s_movk_i32 s6, {}\n"
                                         "again:\n"
                                         "global_load_dword v1, v8, s[0:1]\n"
                                         "v_mul_lo_u32 v3, v3, 33\n"
                                         "s_waitcnt vmcnt(0)\n"
                                         "v_add_u32_e32 v3, v3, v1\n"
                                         "v_add_u32_e32 v8, 0x100, v8\n"
                                         "v_add_u32_e32 v9, 64, v9\n"
                                         "v_cmp_le_i32_e32 vcc, s6, v9\n"
                                         "s_or_b64 s[4:5], vcc, s[4:5]\n"
                                         "s_andn2_b64 exec, exec, s[4:5]\n"
                                         "s_cbranch_execnz again\n"
                                         "s_or_b64 exec, exec, s[4:5]\n"
                                         "{}",
                                         limit, store);
    expect_four_that_leave_the_same(text, limit);
  }
}

TEST(PipelineLoops, ALoadStaysBehindTheStoreThatItReads) {
  expect_same_results("global_load_dword v1, v8, s[0:1]\n"
                      "v_mul_lo_u32 v3, v3, 33\n"
                      "s_waitcnt vmcnt(0)\n"
                      "v_add_u32_e32 v3, v3, v1\n"
                      "v_and_b32_e32 v10, 0xeff, v8\n"
                      "global_store_dword v10, v3, s[0:1] offset:256\n"
                      "s_waitcnt vmcnt(0)\n",
                      2);
}

TEST(PipelineLoops, LdsIsReadAheadWhereNobodyWritesIt) {
  expect_same_results("v_and_b32_e32 v9, 0xff, v8\n"
                      "ds_read_b32 v1, v9\n"
                      "v_mul_lo_u32 v3, v3, 33\n"
                      "s_waitcnt lgkmcnt(0)\n"
                      "v_add3_u32 v3, v3, v1, v8\n",
                      2);
  EXPECT_EQ(ideas_for("ds_read_b32 v1, v6\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v3, v3, v1\nds_write_b32 v6, v3\n"), 0u);
  EXPECT_EQ(ideas_for("ds_read_b32 v1, v6\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v3, v3, v1\ns_barrier\n"), 0u);
}

TEST(PipelineLoops, TwoIterationsAheadTheOlderLoadIsWaitedForAlone) {
  const recover::Program program = program_of(loop(9, direct));
  for (const Idea& idea : pipeline_loops(facts_of(program)))
    if (idea.variant == 2) {
      const std::string text = applied(program, idea);
      const std::string round = text.substr(text.find("by_4:"));
      EXPECT_LT(round.find("s_waitcnt vmcnt(1)"), round.find("s_cbranch_scc1")) << text;
      return;
    }
  FAIL() << "no such idea";
}

TEST(PipelineLoops, AddressesOf64BitsAndWhatComesFromThemRunFurtherAheadToo) {
  for (unsigned iterations = 1; iterations <= 15; ++iterations) {
    const std::string text = fmt::format("v_lshlrev_b32_e32 v6, 2, v0\n"
                                         "v_mov_b32_e32 v7, 0\n"
                                         "v_lshl_add_u64 v[6:7], v[6:7], 0, s[0:1]\n"
                                         "v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 0\nv_mov_b32_e32 v9, v0\n"
                                         "s_mov_b64 s[6:7], 0x100\n"
                                         "s_mov_b32 s4, {}\n"
                                         "again:\n"
                                         "global_load_dword v1, v[6:7], off\n"
                                         "v_and_b32_e32 v10, 0x3ff, v9\n"
                                         "v_lshlrev_b32_e32 v10, 2, v10\n"
                                         "global_load_dword v4, v10, s[0:1]\n"
                                         "v_mul_lo_u32 v3, v3, 33\n"
                                         "s_waitcnt vmcnt(0)\n"
                                         "v_add3_u32 v3, v3, v1, v4\n"
                                         "v_lshl_add_u64 v[6:7], v[6:7], 0, s[6:7]\n"
                                         "v_add_u32_e32 v9, 35, v9\n"
                                         "s_add_i32 s4, s4, -1\n"
                                         "s_cmp_lg_u32 s4, 0\n"
                                         "s_cbranch_scc1 again\n"
                                         "{}",
                                         iterations, store);
    expect_four_that_leave_the_same(text, iterations);
  }
}

TEST(PipelineLoops, OneIterationIsEnoughWhereItTakesAsLongAsALoad) {
  std::string body(direct);
  for (unsigned k = 0; k < 30; ++k) body += "v_mul_lo_u32 v3, v3, 33\n";
  EXPECT_EQ(ideas_for(body), 2u);
  EXPECT_EQ(ideas_for(direct), 4u);
}

TEST(PipelineLoops, AddressesThatDoNotMoveOnByTheSameRunOneIterationAhead) {
  EXPECT_EQ(ideas_for("v_and_b32_e32 v9, 0x3fc, v10\n"
                      "global_load_dword v1, v9, s[0:1]\n"
                      "v_mul_u32_u24_e32 v10, 5, v10\n"
                      "s_waitcnt vmcnt(0)\n"
                      "v_add_u32_e32 v3, v3, v1\n"),
            2u);
}

TEST(PipelineLoops, NothingPassesABarrierThatOthersStoreBefore) {
  EXPECT_EQ(ideas_for(std::string(through_lds) + "global_store_dword v6, v3, s[0:1]\n"), 0u);
}

TEST(PipelineLoops, NothingPassesAStoreInFrontOfIt) {
  EXPECT_EQ(ideas_for("global_store_dword v6, v3, s[0:1]\n" + std::string(direct)), 0u);
  EXPECT_EQ(ideas_for("global_atomic_add v6, v3, s[0:1]\n" + std::string(direct)), 0u);
}

TEST(PipelineLoops, StayWhereAddressesCannotBeComputedAhead) {
  for (const char* address : {"global_load_dword v9, v8, s[0:1] sc1\ns_waitcnt vmcnt(0)\n", // loaded
                              "ds_bpermute_b32 v9, v6, v8\ns_waitcnt lgkmcnt(0)\n",         // of other lanes
                              "s_lshl_b32 s6, s4, 8\nv_add_u32_e32 v9, s6, v6\n"})          // of a changing scalar
    EXPECT_EQ(ideas_for(std::string(address) + "global_load_dword v1, v9, s[0:1]\n"
                                               "s_waitcnt vmcnt(0)\n"
                                               "v_add_u32_e32 v3, v3, v1\n"),
              0u)
        << address;
}

TEST(PipelineLoops, LoadsThatAreMeantToMeetOthersStay) {
  EXPECT_EQ(ideas_for("global_load_dword v1, v8, s[0:1] sc0 sc1\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, v3, v1\n"), 0u);
}

TEST(PipelineLoops, LoadsThatKeepAPartStay) {
  EXPECT_EQ(ideas_for("global_load_short_d16 v1, v8, s[0:1]\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, v3, v1\n"), 0u);
}

TEST(PipelineLoops, StayWhereTheyRunWithOtherLanesInParts) {
  EXPECT_EQ(ideas_for("s_mov_b64 exec, s[8:9]\n" + std::string(direct) + "s_mov_b64 exec, -1\n"), 0u);
}
