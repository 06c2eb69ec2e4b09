// Loops that run several iterations at once: what they look like, and that they compute what they did for whatever
// start, step and limit, those where counts wrap among them.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

#include <random>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

constexpr std::string_view store = "v_lshlrev_b32_e32 v0, 3, v0\n"
                                   "global_store_dwordx2 v0, v[2:3], s[0:1]\n"
                                   "s_endpgm\n";
/// Counts iterations in v2 and mixes what the count `v9` goes through into v3.
constexpr std::string_view work = "v_add_u32_e32 v2, 1, v2\n"
                                  "v_mul_lo_u32 v4, v3, 33\n"
                                  "v_xor_b32_e32 v5, v4, v9\n"
                                  "v_mov_b32_e32 v3, v5\n";

/// Compares what a kernel leaves with what it leaves after each idea. False where it does not end.
bool keeps_results(const std::string& body, size_t& ideas_seen) {
  const recover::Program program = program_of(body);
  const auto before = results_of(body);
  if (!before) return false;
  for (const Idea& idea : unroll_loops(facts_of(program))) {
    const std::string after = applied(program, idea);
    const auto results = results_of(after);
    EXPECT_TRUE(results && *results == *before) << idea.rationale << "\n" << body << "\nbecomes\n" << after;
    ++ideas_seen;
  }
  return true;
}

/// Numbers from which counting by `step` reaches `limit` in some iterations, wrapped or not.
struct Count {
  uint32_t start, step, limit;
};
Count random_count(std::mt19937& random) {
  constexpr uint32_t places[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 1000, 64, 0xffffff00};
  const auto limit = uint32_t(places[random() % std::size(places)] + random() % 5 - 2);
  const auto size = uint32_t(1 + random() % 3 * 63), step = random() % 2 ? size : -size;
  return {uint32_t(limit - step * (random() % 24) + random() % 3 - 1), step, limit};
}

} // namespace

TEST(UnrollLoops, LoadsOfAllIterationsComeBeforeTheFirstWait) {
  const recover::Program program = program_of("v_mov_b32_e32 v4, 0\n"
                                              "again:\n"
                                              "global_load_dword v2, v[0:1], off\n"
                                              "v_lshl_add_u64 v[0:1], v[0:1], 0, 4\n"
                                              "s_add_i32 s4, s4, -1\n"
                                              "s_cmp_eq_u32 s4, 0\n"
                                              "s_waitcnt vmcnt(0)\n"
                                              "v_fmac_f32_e32 v4, v2, v2\n"
                                              "s_cbranch_scc0 again\n"
                                              "global_store_dword v[0:1], v4, off\n"
                                              "s_endpgm\n");
  const std::vector<Idea> ideas = unroll_loops(facts_of(program));
  ASSERT_FALSE(ideas.empty());
  const std::string text = applied(program, ideas[0]);
  const std::string round = text.substr(text.find("by_4:"), text.find("by_4_rest:") - text.find("by_4:"));
  EXPECT_EQ(count_of(round, "global_load_dword"), 4u) << text;
  EXPECT_LT(round.rfind("global_load_dword"), round.find("s_waitcnt vmcnt(3)")) << text;
  EXPECT_EQ(count_of(round, "s_add_i32 s4, s4, -4"), 1u) << text;
  EXPECT_EQ(count_of(text.substr(text.find("by_4_rest:")), "global_load_dword"), 1u) << text;
}

TEST(UnrollLoops, AddressesStandStillDuringARound) {
  const recover::Program program = program_of("s_mov_b64 s[8:9], 0x400\n"
                                              "again:\n"
                                              "global_load_dword v2, v[0:1], off offset:8\n"
                                              "v_lshl_add_u64 v[0:1], v[0:1], 0, s[8:9]\n"
                                              "s_waitcnt vmcnt(0)\n"
                                              "ds_write_b32 v6, v2\n"
                                              "v_add_u32_e32 v6, 0x100, v6\n"
                                              "s_add_i32 s4, s4, -1\n"
                                              "s_cmp_eq_u32 s4, 0\n"
                                              "s_cbranch_scc0 again\n"
                                              "s_endpgm\n");
  const std::vector<Idea> ideas = unroll_loops(facts_of(program));
  ASSERT_FALSE(ideas.empty());
  const std::string text = applied(program, ideas[0]);
  const std::string round = text.substr(text.find("by_4:"), text.find("by_4_rest:") - text.find("by_4:"));
  for (const char* part : {"off offset:8\n", "off offset:1032\n", "off offset:2056\n", "off offset:3080\n",
                           "offset:256\n", "offset:512\n", "offset:768\n"})
    EXPECT_EQ(count_of(round, part), 1u) << part << text;
  EXPECT_EQ(count_of(round, "v_lshl_add_u64 v[0:1], s[8:9], 2, v[0:1]\n"), 1u) << text;
  EXPECT_EQ(count_of(round, "v_add_u32_e32 v6, 0x400, v6\n"), 1u) << text;
}

TEST(UnrollLoops, AnAddressThatIsAlsoAValueMovesEachTime) {
  const recover::Program program = program_of("again:\n"
                                              "ds_write_b32 v6, v6\n"
                                              "v_add_u32_e32 v6, 0x100, v6\n"
                                              "s_add_i32 s4, s4, -1\n"
                                              "s_cmp_eq_u32 s4, 0\n"
                                              "s_cbranch_scc0 again\n"
                                              "s_endpgm\n");
  for (const Idea& idea : unroll_loops(facts_of(program)))
    EXPECT_EQ(applied(program, idea).find("offset:"), std::string::npos) << applied(program, idea);
}

TEST(UnrollLoops, WhereTheCodeSaysHowOftenNothingIsLeftOver) {
  const recover::Program program = program_of("s_mov_b32 s4, 0\n"
                                              "again:\n"
                                              "global_load_dword v2, v[0:1], off\n"
                                              "v_lshl_add_u64 v[0:1], v[0:1], 0, 4\n"
                                              "s_add_i32 s4, s4, 1\n"
                                              "s_cmp_lt_i32 s4, 16\n"
                                              "s_waitcnt vmcnt(0)\n"
                                              "v_add_f32_e32 v4, v2, v4\n"
                                              "s_cbranch_scc1 again\n"
                                              "global_store_dword v[0:1], v4, off\n"
                                              "s_endpgm\n");
  const std::vector<Idea> ideas = unroll_loops(facts_of(program));
  ASSERT_FALSE(ideas.empty());
  const std::string text = applied(program, ideas[0]);
  EXPECT_EQ(count_of(text, "global_load_dword"), 4u) << text;
  EXPECT_EQ(count_of(text, "s_cbranch"), 1u) << text;
}

TEST(UnrollLoops, AValueThatGoesOnThroughAnAccumulationMovesAsAWhole) {
  const recover::Program program = program_of("again:\n"
                                              "global_load_dword v2, v[0:1], off\n"
                                              "v_lshl_add_u64 v[0:1], v[0:1], 0, 4\n"
                                              "s_waitcnt vmcnt(0)\n"
                                              "v_rcp_f32_e32 v5, v2\n"
                                              "v_fmac_f32_e32 v5, v2, v5\n"
                                              "v_add_f32_e32 v4, v5, v4\n"
                                              "s_add_i32 s4, s4, -1\n"
                                              "s_cmp_lg_u32 s4, 0\n"
                                              "s_cbranch_scc1 again\n"
                                              "global_store_dword v[0:1], v4, off\n"
                                              "s_endpgm\n");
  const std::vector<Idea> ideas = unroll_loops(facts_of(program));
  ASSERT_FALSE(ideas.empty());
  const std::string text = applied(program, ideas[0]);
  for (size_t at = text.find("v_fmac_f32_e32 "); at != text.npos; at = text.find("v_fmac_f32_e32 ", at + 1)) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const std::string accumulator = line.substr(15, line.find(',') - 15);
    EXPECT_TRUE(line.ends_with(" " + accumulator)) << line << "\n" << text;
  }
}

TEST(UnrollLoops, LoopsThatTurnLanesOffInAnotherWayStayAsTheyAre) {
  EXPECT_TRUE(unroll_loops(facts_of(program_of("again:\n"
                                               "v_cmp_gt_f32_e32 vcc, v1, v2\n"
                                               "s_and_b64 exec, exec, vcc\n"
                                               "v_add_f32_e32 v2, v2, v3\n"
                                               "s_add_i32 s4, s4, -1\n"
                                               "s_cmp_lg_u32 s4, 0\n"
                                               "s_cbranch_scc1 again\n"
                                               "s_endpgm\n")))
                  .empty());
}

/// A loop over lanes whose body loads under a guard, as histograms have it.
std::string guarded_loop(const std::string& guard, const std::string& inside, const std::string& behind = "") {
  return "v_mov_b32_e32 v8, 1\n"
         "s_mov_b64 s[10:11], 0\n"
         "again:\n"
         "v_cmp_gt_i32_e32 vcc, s8, v2\n" +
         guard + inside + "s_or_b64 exec, exec, s[6:7]\n" + behind +
         "v_add_u32_e32 v7, 0x100, v2\n"
         "v_cmp_le_i32_e32 vcc, s9, v2\n"
         "v_lshl_add_u64 v[0:1], v[0:1], 0, 16\n"
         "s_or_b64 s[10:11], vcc, s[10:11]\n"
         "v_mov_b32_e32 v2, v7\n"
         "s_andn2_b64 exec, exec, s[10:11]\n"
         "s_cbranch_execnz again\n"
         "s_endpgm\n";
}

TEST(UnrollLoops, LoadsUnderGuardsOfAllIterationsComeBeforeTheFirstUse) {
  const recover::Program program =
      program_of(guarded_loop("s_and_saveexec_b64 s[6:7], vcc\n", "global_load_ubyte v5, v[0:1], off\n"
                                                                  "s_waitcnt vmcnt(0)\n"
                                                                  "v_lshlrev_b32_e32 v5, 2, v5\n"
                                                                  "ds_add_u32 v5, v8\n"));
  const std::vector<Idea> ideas = unroll_loops(facts_of(program));
  ASSERT_FALSE(ideas.empty());
  const std::string text = applied(program, ideas[0]);
  const std::string round = text.substr(text.find("by_4:"), text.find("by_4_rest:") - text.find("by_4:"));
  EXPECT_EQ(count_of(round, "global_load_ubyte"), 4u) << text;
  EXPECT_LT(round.rfind("global_load_ubyte"), round.find("ds_add_u32")) << text;
  EXPECT_EQ(count_of(round, "s_and_b64"), 4u) << text;
  EXPECT_EQ(count_of(round, "saveexec"), 0u) << text;
}

TEST(UnrollLoops, AGuardWhoseSavedMaskIsReadInsideIsNotTakenApart) {
  const recover::Program program =
      program_of(guarded_loop("s_and_saveexec_b64 s[6:7], vcc\n", "global_load_ubyte v5, v[0:1], off\n"
                                                                  "s_bcnt1_i32_b64 s12, s[6:7]\n"
                                                                  "s_waitcnt vmcnt(0)\n"
                                                                  "v_add_u32_e32 v5, s12, v5\n"
                                                                  "ds_add_u32 v5, v8\n"));
  for (const Idea& idea : unroll_loops(facts_of(program)))
    EXPECT_NE(applied(program, idea).find("s_and_saveexec_b64 s[6:7], vcc\n"), std::string::npos);
}

TEST(UnrollLoops, GuardedLoopsComeToTheSameWhateverLanesTheyGuard) {
  std::mt19937 random(3);
  size_t ideas = 0, ended = 0;
  constexpr const char* insides[] = {
      "v_add_u32_e32 v3, v3, v9\nv_mov_b32_e32 v5, v3\nv_mul_lo_u32 v3, v5, 5\n", // goes on from region to region
      "v_mov_b32_e32 v5, v9\n",                                                   // read behind the region
      "v_xor_b32_e32 v5, 7, v9\nv_add_u32_e32 v3, v5, v3\n",                      // within it alone
      "v_cmp_lt_u32_e32 vcc, 31, v6\ns_and_saveexec_b64 s[12:13], vcc\nv_mov_b32_e32 v5, v9\n"
      "s_or_b64 exec, exec, s[12:13]\nv_add_u32_e32 v3, v5, v3\n", // one region in another
  };
  for (int k = 0; k < 120; ++k) {
    const Count c = random_count(random);
    constexpr const char* tests[] = {"lt_i32", "le_i32", "gt_i32", "ge_i32", "lt_u32", "le_u32", "gt_u32", "ge_u32"};
    const char* test = tests[random() % std::size(tests)];
    const char* const inside = insides[random() % std::size(insides)];
    const bool needs_vcc = random() % 2, behind = random() % 2, before_step = random() % 2, moves = random() % 2;
    const std::string step = moves ? fmt::format("v_add_u32_e32 v8, {:#x}, v9\nv_mov_b32_e32 v9, v8\n", c.step)
                                   : fmt::format("v_add_u32_e32 v9, {:#x}, v9\n", c.step),
                      compare = fmt::format("v_cmp_{}_e64 s[10:11], s5, v9\n", test);
    ended += keeps_results(
        fmt::format("v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 1\nv_mov_b32_e32 v5, 2\nv_mov_b32_e32 v6, v0\n"
                    "v_and_b32_e32 v9, {}, v0\ns_mov_b32 s5, {:#x}\nv_add_u32_e32 v9, {:#x}, v9\n"
                    "s_mov_b64 s[8:9], exec\ns_mov_b64 s[6:7], 0\nagain:\n"
                    "v_add_u32_e32 v2, 1, v2\nv_bfe_u32 v7, v9, {}, 1\nv_cmp_eq_u32_e32 vcc, 1, v7\n"
                    "s_and_saveexec_b64 s[14:15], vcc\n{}s_or_b64 exec, exec, s[14:15]\n{}{}"
                    "s_or_b64 s[6:7], s[10:11], s[6:7]\ns_andn2_b64 exec, exec, s[6:7]\ns_cbranch_execnz again\n"
                    "s_mov_b64 exec, s[8:9]\n{}{}{}",
                    random() % 2 ? 3 : 63, c.limit, c.start, random() % 3, inside,
                    behind ? "v_add_u32_e32 v3, v5, v3\n" : "", before_step ? compare + step : step + compare,
                    random() % 2 ? "v_add_u32_e32 v3, v5, v3\n" : "",
                    needs_vcc ? "v_addc_co_u32_e32 v3, vcc, v3, v3, vcc\n" : "", store),
        ideas);
  }
  EXPECT_GT(ended, 60u);
  EXPECT_GT(ideas, 120u);
}

/// Each lane walks through 64 bytes of its own, from dword `from` on, and writes from dword `to` on.
std::string copying_loop(unsigned from, unsigned to, unsigned count) {
  std::string text = "v_lshlrev_b32_e32 v1, 6, v0\nv_mov_b32_e32 v2, v0\n";
  for (int k = 0; k < 16; ++k)
    text += fmt::format("v_mad_u32_u24 v2, v2, 5, 3\nglobal_store_dword v1, v2, s[0:1] offset:{}\n", 4 * k);
  return text + fmt::format("s_waitcnt vmcnt(0)\nv_mov_b32_e32 v3, 0\nv_mov_b32_e32 v2, v1\ns_mov_b32 s4, {}\n"
                            "v_lshl_add_u64 v[4:5], v[2:3], 0, s[0:1]\nv_lshl_add_u64 v[6:7], v[2:3], 0, s[0:1]\n"
                            "v_lshl_add_u64 v[4:5], v[4:5], 0, {}\nv_lshl_add_u64 v[6:7], v[6:7], 0, {}\n"
                            "again:\n"
                            "global_load_dword v8, v[4:5], off\n"
                            "v_lshl_add_u64 v[4:5], v[4:5], 0, 4\n"
                            "s_add_i32 s4, s4, -1\n"
                            "s_cmp_lg_u32 s4, 0\n"
                            "s_waitcnt vmcnt(0)\n"
                            "v_mul_lo_u32 v8, v8, 9\n"
                            "global_store_dword v[6:7], v8, off\n"
                            "v_lshl_add_u64 v[6:7], v[6:7], 0, 4\n"
                            "s_cbranch_scc1 again\n"
                            "s_endpgm\n",
                            count, 4 * from, 4 * to);
}

TEST(UnrollLoops, LoadsPassStoresOfEarlierIterationsWhereTheyAreApart) {
  const recover::Program program = program_of(copying_loop(0, 8, 8));
  const std::vector<Idea> ideas = unroll_loops(facts_of(program));
  ASSERT_FALSE(ideas.empty());
  const std::string text = applied(program, ideas[0]);
  const std::string round = text.substr(text.find("by_4:"), text.find("by_4_rest:") - text.find("by_4:"));
  EXPECT_EQ(count_of(round, "global_load_dword"), 4u) << text;
  EXPECT_LT(round.rfind("global_load_dword"), round.find("global_store_dword")) << text;
}

TEST(UnrollLoops, WhereTheyMeetTheLoopRunsAsItWas) {
  size_t ideas = 0;
  for (unsigned from = 0; from < 8; ++from)
    for (unsigned to = 0; to < 8; ++to)
      EXPECT_TRUE(keeps_results(copying_loop(from, to, 8), ideas)) << from << " " << to;
  EXPECT_GT(ideas, 64u);
}

/// The same with addresses so far below what is meant that offsets reach four iterations and not eight.
std::string far_copying_loop(unsigned from, unsigned to, unsigned count) {
  std::string body = copying_loop(from, to, count);
  const auto replace = [&](std::string_view part, std::string_view by) {
    body.replace(body.find(part), part.size(), by);
  };
  replace("v_lshl_add_u64 v[4:5], v[2:3], 0, s[0:1]\nv_lshl_add_u64 v[6:7], v[2:3], 0, s[0:1]\n",
          "s_sub_u32 s6, s0, 0xff0\ns_subb_u32 s7, s1, 0\n"
          "v_lshl_add_u64 v[4:5], v[2:3], 0, s[6:7]\nv_lshl_add_u64 v[6:7], v[2:3], 0, s[6:7]\n");
  replace("v8, v[4:5], off\n", "v8, v[4:5], off offset:4080\n");
  replace("v[6:7], v8, off\n", "v[6:7], v8, off offset:4080\n");
  return body;
}

TEST(UnrollLoops, WhereOffsetsReachHalfOfTheIterationsTheOthersHaveAnAddressOfTheirOwn) {
  const recover::Program program = program_of(far_copying_loop(0, 8, 8));
  size_t eight = 0;
  for (const Idea& idea : unroll_loops(facts_of(program))) {
    if (!idea.rationale.starts_with("8") || !idea.rationale.ends_with("loads first")) continue;
    const std::string text = applied(program, idea);
    const std::string round = text.substr(text.find("_by_8:"), text.find("_rest:") - text.find("_by_8:"));
    EXPECT_EQ(count_of(round, "v_lshl_add_u64"), 4u) << text; // each address: a second one, and on to the next round
    EXPECT_EQ(count_of(round, "offset:4092"), 4u) << text;
    EXPECT_EQ(count_of(round, "global_load_dword"), 8u) << text;
    EXPECT_LT(round.rfind("global_load_dword"), round.find("global_store_dword")) << text;
    ++eight;
  }
  EXPECT_EQ(eight, 1u);
}

TEST(UnrollLoops, LoopsWithTwoAddressesComeToTheSameWhereverTheyMeet) {
  size_t ideas = 0;
  for (unsigned from = 0; from < 8; ++from)
    for (unsigned to = 0; to < 8; ++to)
      EXPECT_TRUE(keeps_results(far_copying_loop(from, to, 8), ideas)) << from << " " << to;
  EXPECT_GT(ideas, 64u);
}

TEST(UnrollLoops, LoadsStayBehindStoresThatMoveOnOtherwise) {
  std::string body = copying_loop(0, 8, 8);
  body.replace(body.find("v[6:7], v[6:7], 0, 4\ns_cbranch"), 20, "v[6:7], v[6:7], 0, 8");
  const recover::Program program = program_of(body);
  for (const Idea& idea : unroll_loops(facts_of(program))) {
    const std::string text = applied(program, idea);
    const size_t top = text.find("_by_") == text.npos ? text.find("again") : text.find("_by_");
    const std::string round = text.substr(top, text.find("_rest:") - top);
    EXPECT_GT(round.rfind("global_load_dword"), round.find("global_store_dword")) << text;
  }
}

TEST(UnrollLoops, ScalarCountsComeToTheSameWhateverTheyWrapAround) {
  std::mt19937 random(1);
  size_t ideas = 0, ended = 0;
  for (int k = 0; k < 150; ++k) {
    const Count c = random_count(random);
    constexpr const char* tests[] = {"lt_i32", "le_i32", "gt_i32", "ge_i32", "lt_u32", "le_u32",
                                     "gt_u32", "ge_u32", "lg_u32", "eq_u32", "eq_i32"};
    const char* test = tests[random() % std::size(tests)];
    const bool first = random() % 2, on_one = random() % 2;
    ended += keeps_results(
        fmt::format("v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 1\ns_mov_b32 s4, {:#x}\ns_mov_b32 s5, {:#x}\nagain:\n"
                    "v_mov_b32_e32 v9, s4\n{}s_add_i32 s4, s4, {}\ns_cmp_{} {}\ns_cbranch_scc{} again\n{}",
                    c.start, c.limit, work, int32_t(c.step), test, first ? "s4, s5" : "s5, s4", on_one ? 1 : 0, store),
        ideas);
  }
  EXPECT_GT(ended, 75u);
  EXPECT_GT(ideas, 150u);
}

TEST(UnrollLoops, CountsOfLanesComeToTheSameWhateverTheyWrapAround) {
  std::mt19937 random(2);
  size_t ideas = 0, ended = 0;
  for (int k = 0; k < 150; ++k) {
    const Count c = random_count(random);
    constexpr const char* tests[] = {"lt_i32", "le_i32", "gt_i32", "ge_i32", "lt_u32", "le_u32", "gt_u32", "ge_u32"};
    const char* test = tests[random() % std::size(tests)];
    const bool constant = random() % 2, first = random() % 2;
    const std::string limit = constant ? fmt::format("{}", int32_t(c.limit)) : "s5";
    // Lanes begin in different places, a few of them far away.
    ended += keeps_results(
        fmt::format("v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 1\nv_and_b32_e32 v9, {}, v0\ns_mov_b32 s5, {:#x}\n"
                    "v_add_u32_e32 v9, {:#x}, v9\ns_mov_b64 s[8:9], exec\ns_mov_b64 s[6:7], 0\nagain:\n"
                    "{}v_add_u32_e32 v9, {:#x}, v9\n{}"
                    "s_or_b64 s[6:7], s[10:11], s[6:7]\ns_andn2_b64 exec, exec, s[6:7]\ns_cbranch_execnz again\n"
                    "s_mov_b64 exec, s[8:9]\n{}",
                    random() % 2 ? 3 : 63, c.limit, c.start, work, c.step,
                    constant && (int32_t(c.limit) < -16 || int32_t(c.limit) > 64)
                        ? fmt::format("s_mov_b32 s12, {}\nv_cmp_{}_e64 s[10:11], {}\n", limit, test,
                                      first ? "v9, s12" : "s12, v9")
                        : fmt::format("v_cmp_{}_e64 s[10:11], {}\n", test, first ? "v9, " + limit : limit + ", v9"),
                    store),
        ideas);
  }
  EXPECT_GT(ended, 75u);
  EXPECT_GT(ideas, 150u);
}
