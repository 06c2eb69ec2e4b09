#include "prove/evaluate.h"
#include "recover/recover.h"
#include "search/drivers.h"
#include "search/drivers/superopt/book.h"
#include "search/drivers/superopt/window.h"
#include "support/file.h"

#include "rewrite_fixture.h"

#include <cstdlib>
#include <filesystem>
#include <set>

using namespace asmevo;
using namespace asmevo::search;
using namespace asmevo::search::rewrite::testing;
namespace so = asmevo::search::superopt;

namespace {

so::Opcodes& opcodes() {
  static so::Opcodes all(codec());
  return all;
}

/// `code` between loads and a store of v8 (and s8, where it is scalar), which nothing else reads.
recover::Program around(const std::string& code, const std::string& more_uses = "") {
  return program_of("s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                    "global_load_dwordx4 v[0:3], v[10:11], off\n"
                    "s_waitcnt vmcnt(0) lgkmcnt(0)\n" +
                    code + more_uses +
                    "v_mov_b32_e32 v20, s8\n"
                    "global_store_dwordx2 v[10:11], v[8:9], off\n"
                    "global_store_dword v[10:11], v20, off offset:8\n"
                    "s_endpgm\n");
}

/// What the first of the windows that end in the last instruction of `code` can become.
std::string cheapest(const std::string& code, const std::string& more_uses = "", so::Bounds bounds = {}) {
  const recover::Program program = around(code, more_uses);
  const rewrite::Facts facts = facts_of(program);
  size_t root = 0, lines = size_t(std::ranges::count(code, '\n'));
  size_t left = 3 + lines;
  for (size_t item = facts.function.first; item < facts.function.last && left > 0; ++item)
    if (facts.is_instruction(item)) root = item, --left;
  so::Book book("");
  for (const auto& windows : so::windows_of(facts, facts.graph.blocks[0], opcodes()))
    for (const so::Window& window : windows) {
      if (window.root() != root) continue;
      for (const so::Sequence& sequence : so::cheaper(window.sequence, "gfx942", opcodes(), bounds, book)) {
        std::vector<isa::RegisterRange> overwritten;
        if (const auto text = so::text_of(facts, window, sequence, overwritten)) return *text;
      }
    }
  return "nothing";
}

State state_of(const recover::Program& program) {
  return {.program = &program, .function = &program.functions.front(), .codec = &codec()};
}

std::vector<Proposal> all_of(Driver& driver, const State& state) {
  std::mt19937_64 random;
  std::vector<Proposal> proposals;
  while (auto proposal = driver.propose(state, random)) proposals.push_back(*std::move(proposal));
  return proposals;
}

/// The program after the first proposal.
std::string first_result(const recover::Program& program) {
  const auto driver = std::move(*make_driver({.name = "superopt"}));
  std::mt19937_64 random;
  const auto proposal = driver->propose(state_of(program), random);
  if (!proposal) return "nothing";
  const auto after = recover::apply(program, proposal->edits, codec());
  return after ? text_of(*after) : "(does not assemble)";
}

/// A place for the book that goes with the test.
class Superopt : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("superopt.{}.{}", ::testing::UnitTest::GetInstance()->current_test_info()->name(), getpid());
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    unsetenv("XDG_CACHE_HOME");
  }
  std::filesystem::path folder_;
};

} // namespace

TEST(SuperoptOpcodes, ComputeWhatTheProverSaysOfThem) {
  for (const so::Unit unit : {so::Unit::vector, so::Unit::scalar}) {
    ASSERT_GT(opcodes().replacements(unit).size(), 20u);
    for (const so::Opcode* opcode : opcodes().replacements(unit)) {
      so::Sequence sequence;
      prove::Terms terms;
      std::vector<prove::Id> leaves;
      so::Step step{.opcode = opcode};
      for (uint16_t k = 0; k < opcode->count; ++k) {
        const so::Type type = opcode->sources[k];
        sequence.leaves.push_back({.type = type});
        leaves.push_back(terms.symbol(type == so::Type::wide  ? 64
                                      : type == so::Type::bit ? 1
                                                              : 32,
                                      fmt::format("{}", k), false));
        step.sources[k] = k;
      }
      sequence.steps.push_back(step);
      sequence.result = sequence.value_of(0);
      const prove::Id result = so::term_of(sequence, terms, leaves);
      prove::World world(terms, terms.symbol(32, "lane", false), 42);
      for (unsigned lane = 0; lane < 64; ++lane) {
        so::Samples sources[4], computed;
        const so::Samples* from[4];
        for (uint16_t k = 0; k < opcode->count; ++k) {
          sources[k].of.fill(world.value(leaves[k], lane));
          from[k] = &sources[k];
        }
        opcode->compute(from, computed);
        EXPECT_EQ(computed.of[3], world.value(result, lane)) << opcode->name << " in lane " << lane;
      }
    }
  }
}

TEST(SuperoptOpcodes, AMultiplicationCostsFourAdditions) {
  EXPECT_EQ(opcodes().named("v_mul_lo_u32")->issue, 4 * opcodes().named("v_add_u32")->issue);
}

TEST(SuperoptFinder, FindsOneInstructionForTwo) {
  EXPECT_EQ(cheapest("v_lshlrev_b32_e32 v8, 2, v0\nv_add_u32_e32 v8, v8, v1\n"), "v_lshl_add_u32 v8, v0, 2, v1\n");
  EXPECT_EQ(cheapest("v_add_u32_e32 v8, v0, v1\nv_add_u32_e32 v8, v8, v2\n"), "v_add3_u32 v8, v0, v1, v2\n");
  EXPECT_EQ(cheapest("v_and_b32_e32 v8, v0, v1\nv_or_b32_e32 v8, v8, v2\n"), "v_and_or_b32 v8, v0, v1, v2\n");
  EXPECT_EQ(cheapest("v_lshrrev_b32_e32 v8, 5, v0\nv_and_b32_e32 v8, 7, v8\n"), "v_bfe_u32 v8, v0, 5, 3\n");
  EXPECT_EQ(cheapest("v_sub_u32_e32 v8, 0, v0\nv_sub_u32_e32 v8, v1, v8\n").substr(0, 12), "v_add_u32 v8");
}

TEST(SuperoptFinder, MultipliesByShiftsAndSums) {
  EXPECT_EQ(cheapest("v_mul_lo_u32 v8, v0, 5\n"), "v_lshl_add_u32 v8, v0, 2, v0\n");
  EXPECT_EQ(cheapest("v_mul_lo_u32 v8, v0, 8\n"), "v_lshlrev_b32 v8, 3, v0\n");
  const std::string ten = cheapest("v_mul_lo_u32 v8, v0, 10\n");
  EXPECT_EQ(std::ranges::count(ten, '\n'), 2) << ten;
  EXPECT_EQ(ten.find("v_mul"), ten.npos) << ten;
}

TEST(SuperoptFinder, DropsWhatDoesNothing) {
  EXPECT_EQ(cheapest("v_and_b32_e32 v8, 0xff, v0\nv_and_b32_e32 v8, 15, v8\n"), "v_and_b32 v8, 15, v0\n");
  EXPECT_EQ(cheapest("v_lshrrev_b32_e32 v8, 24, v0\nv_and_b32_e32 v8, 0xff, v8\n"), "v_lshrrev_b32 v8, 24, v0\n");
  EXPECT_EQ(cheapest("v_and_b32_e32 v8, 12, v0\nv_add_u32_e32 v8, 0, v8\n"), "v_and_b32 v8, 12, v0\n");
  EXPECT_EQ(cheapest("v_add_u32_e32 v8, 0, v0\n"), "v_mov_b32 v8, v0\n");
  EXPECT_EQ(cheapest("v_not_b32_e32 v8, v0\nv_not_b32_e32 v8, v8\n"), "v_mov_b32 v8, v0\n");
}

TEST(SuperoptFinder, ReadsWhatAMaskChooses) {
  EXPECT_EQ(cheapest("v_cmp_lt_u32_e32 vcc, v0, v1\nv_cndmask_b32_e32 v8, v1, v0, vcc\n"), "v_min_u32 v8, v0, v1\n");
  // The bit of one mask twice, put together.
  EXPECT_EQ(cheapest("v_cndmask_b32_e64 v8, 0, 1, s[4:5]\n"
                     "v_cndmask_b32_e64 v12, 0, 1, s[4:5]\n"
                     "v_lshlrev_b16_e32 v12, 1, v12\n"
                     "v_or_b32_e32 v8, v8, v12\n"),
            "v_cndmask_b32 v8, 0, 3, s[4:5]\n");
}

TEST(SuperoptFinder, AddsPairsAtOnce) {
  EXPECT_EQ(cheapest("v_lshlrev_b64 v[8:9], 3, v[0:1]\nv_lshl_add_u64 v[8:9], v[8:9], 0, v[2:3]\n"),
            "v_lshl_add_u64 v[8:9], v[0:1], 3, v[2:3]\n");
  EXPECT_EQ(cheapest("v_add_co_u32_e32 v8, vcc, v0, v2\nv_addc_co_u32_e32 v9, vcc, v1, v3, vcc\n"),
            "v_lshl_add_u64 v[8:9], v[0:1], 0, v[2:3]\n");
}

TEST(SuperoptFinder, FindsScalarPairs) {
  EXPECT_EQ(cheapest("s_lshl_b32 s8, s4, 2\ns_add_u32 s8, s8, s5\n"), "s_lshl2_add_u32 s8, s4, s5\n");
  EXPECT_EQ(cheapest("s_not_b32 s8, s4\ns_and_b32 s8, s5, s8\n"), "s_andn2_b32 s8, s5, s4\n");
}

TEST(SuperoptFinder, LeavesWhatIsShortAlready) {
  EXPECT_EQ(cheapest("v_lshl_add_u32 v8, v0, 2, v1\n"), "nothing");
  EXPECT_EQ(cheapest("v_mul_lo_u32 v8, v0, v1\n"), "nothing");
  EXPECT_EQ(cheapest("v_xor_b32_e32 v8, v0, v1\nv_add_u32_e32 v8, v8, v8\n"), "nothing");
}

TEST(SuperoptFinder, WhatOnlySamplesAgreeOnIsRefuted) {
  // v0 everywhere but where it is 0x12345678: no sample meets that.
  const std::string code = "v_xor_b32_e32 v8, 0x12345678, v0\n"
                           "v_max_u32_e32 v8, 1, v8\n"
                           "v_xor_b32_e32 v8, 0x12345678, v8\n";
  EXPECT_EQ(cheapest(code), "nothing");
  const recover::Program program = around(code);
  const rewrite::Facts facts = facts_of(program);
  size_t refuted = 0;
  for (const auto& windows : so::windows_of(facts, facts.graph.blocks[0], opcodes()))
    for (const so::Window& window : windows) refuted += so::find_cheaper(window.sequence, opcodes(), {}).refuted;
  EXPECT_GT(refuted, 0u);
}

TEST(SuperoptFinder, FewSamplesCostProofsAndNotCorrectness) {
  so::Bounds careless;
  careless.samples = 1;
  careless.proofs = 1000;
  EXPECT_EQ(cheapest("v_lshlrev_b32_e32 v8, 2, v0\nv_add_u32_e32 v8, v8, v1\n", "", careless),
            "v_lshl_add_u32 v8, v0, 2, v1\n");
  EXPECT_EQ(cheapest("v_xor_b32_e32 v8, v0, v1\nv_add_u32_e32 v8, v8, v8\n", "", careless), "nothing");
}

TEST(SuperoptWindows, KeepAnInstructionThatIsWantedElsewhere) {
  const std::string code = "v_lshlrev_b32_e32 v12, 2, v0\nv_add_u32_e32 v8, v12, v1\n";
  // The shift stays, so that nothing is saved but the wait for it.
  EXPECT_EQ(cheapest(code, "v_mov_b32_e32 v9, v12\n"), "v_lshl_add_u32 v8, v0, 2, v1\n");
  const recover::Program program = around(code, "v_mov_b32_e32 v9, v12\n");
  const rewrite::Facts facts = facts_of(program);
  for (const auto& windows : so::windows_of(facts, facts.graph.blocks[0], opcodes()))
    for (const so::Window& window : windows)
      for (size_t item : window.removed) EXPECT_NE(facts.program.items[item].text, "v_lshlrev_b32_e32 v12, 2, v0");
  // A sum of three is no shorter than one of two where the first sum is wanted too.
  EXPECT_EQ(cheapest("v_mul_lo_u32 v12, v0, v1\nv_lshlrev_b32_e32 v8, 1, v12\n", "v_mov_b32_e32 v9, v12\n"), "nothing");
}

TEST(SuperoptWindows, EndWhereAnInputIsOverwritten) {
  EXPECT_EQ(cheapest("v_lshlrev_b32_e32 v8, 2, v0\nv_mov_b32_e32 v0, v2\nv_add_u32_e32 v8, v8, v1\n",
                     "v_mov_b32_e32 v9, v0\n"),
            "nothing");
}

TEST(SuperoptWindows, EndWhereExecChanges) {
  const std::string first = "v_lshlrev_b32_e32 v8, 2, v0\n", second = "v_add_u32_e32 v8, v8, v1\n";
  EXPECT_EQ(cheapest(first + "s_mov_b64 exec, s[4:5]\n" + second), "nothing");
  EXPECT_NE(cheapest(first + "s_mov_b64 s[6:7], s[4:5]\n" + second), "nothing");
}

TEST(SuperoptWindows, AreNotSeenWhereRegistersAreNamedByAnIndex) {
  const std::string pair = "v_lshlrev_b32_e32 v8, 2, v0\nv_add_u32_e32 v8, v8, v1\n";
  EXPECT_EQ(cheapest("s_set_gpr_idx_on s4, 0x1\n" + pair, "s_set_gpr_idx_off\n"), "nothing");
}

TEST(SuperoptWindows, TakeNoInstructionWithModifiersOrParts) {
  EXPECT_EQ(cheapest("v_lshlrev_b32_e32 v8, 2, v0\nv_add_u32_e64 v8, v8, v1 clamp\n"), "nothing");
  EXPECT_EQ(cheapest("v_lshlrev_b32_e32 v8, 2, v0\n"
                     "v_add_u32_sdwa v8, v8, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0\n"),
            "nothing");
}

TEST(SuperoptWindows, LeaveSccToWhoeverReadsIt) {
  const std::string pair = "s_not_b32 s8, s4\ns_and_b32 s8, s5, s8\n";
  EXPECT_NE(cheapest(pair), "nothing");
  EXPECT_EQ(cheapest(pair, "s_cselect_b32 s6, s4, s5\nv_mov_b32_e32 v9, s6\n"), "nothing");
}

TEST(SuperoptWindows, LeaveVccToWhoeverReadsIt) {
  const std::string sum = "v_add_co_u32_e32 v8, vcc, v0, v2\nv_addc_co_u32_e32 v9, vcc, v1, v3, vcc\n";
  EXPECT_EQ(cheapest(sum, "v_cndmask_b32_e32 v21, v0, v1, vcc\nv_xor_b32_e32 v9, v9, v21\n"), "nothing");
}

TEST(SuperoptSequence, IsReadAsItWasWrittenAndNothingElse) {
  const recover::Program program = around("v_mul_lo_u32 v8, v0, 10\n");
  const rewrite::Facts facts = facts_of(program);
  const auto windows = so::windows_of(facts, facts.graph.blocks[0], opcodes());
  ASSERT_FALSE(windows.empty());
  const so::Sequence& window = windows[0][0].sequence;
  const auto found = so::find_cheaper(window, opcodes(), {}).replacement;
  ASSERT_TRUE(found);
  const std::string text = so::spelled_steps(*found, window.leaves.size());
  const auto again = so::read_steps(text, window, opcodes());
  ASSERT_TRUE(again) << text;
  EXPECT_EQ(so::spelled(*again), so::spelled(*found));
  for (const char* damaged : {"", "|", "v_add_u32 0|2", "v_add_u32 0 99|2", "v_nothing 0 0|2", "=xyz|0",
                              "v_add_u32 0 0|9", "v_lshl_add_u64 0 0 0|2", "7", "v_mul_hi_i32 0 0|2"})
    EXPECT_FALSE(so::read_steps(damaged, window, opcodes())) << damaged;
}

TEST_F(Superopt, ProposesAllReplacementsThatAreApartAsOne) {
  const recover::Program program = program_of("global_load_dwordx4 v[0:3], v[10:11], off\n"
                                              "s_waitcnt vmcnt(0)\n"
                                              "v_lshlrev_b32_e32 v8, 2, v0\n"
                                              "v_lshrrev_b32_e32 v9, 5, v2\n"
                                              "v_add_u32_e32 v8, v8, v1\n"
                                              "v_and_b32_e32 v9, 7, v9\n"
                                              "global_store_dwordx2 v[10:11], v[8:9], off\n"
                                              "s_endpgm\n");
  EXPECT_EQ(first_result(program), "global_load_dwordx4 v[0:3], v[10:11], off\n"
                                   "s_waitcnt vmcnt(0)\n"
                                   "v_lshl_add_u32 v8, v0, 2, v1\n"
                                   "v_bfe_u32 v9, v2, 5, 3\n"
                                   "global_store_dwordx2 v[10:11], v[8:9], off\n"
                                   "s_endpgm\n");
}

TEST_F(Superopt, AFocusLeavesOutTheOthers) {
  const recover::Program program = around("v_lshlrev_b32_e32 v8, 2, v0\nv_add_u32_e32 v8, v8, v1\n");
  const auto driver = std::move(*make_driver({.name = "superopt"}));
  State state = state_of(program);
  state.focus.direction = Direction::memory_access;
  EXPECT_TRUE(all_of(*driver, state).empty());
  state.focus.direction.reset();
  state.focus.window = Range{state.function->first, state.function->first + 2};
  EXPECT_TRUE(all_of(*driver, state).empty());
  state.focus.window.reset();
  const auto rest = all_of(*driver, state);
  ASSERT_FALSE(rest.empty());
  for (const Proposal& proposal : rest)
    for (const recover::Edit& edit : proposal.edits) EXPECT_TRUE(proposal.window->contains(edit));
}

TEST_F(Superopt, TheBookSparesTheSecondRunItsSearches) {
  const std::string path = so::book_path();
  ASSERT_FALSE(path.empty());
  const recover::Program program = around("v_lshlrev_b32_e32 v8, 2, v0\nv_add_u32_e32 v8, v8, v1\n");
  const std::string first = first_result(program);
  const rewrite::Facts facts = facts_of(program);
  so::Book book(path);
  EXPECT_FALSE(book.trouble());
  for (const auto& windows : so::windows_of(facts, facts.graph.blocks[0], opcodes()))
    for (const so::Window& window : windows) (void)so::cheaper(window.sequence, "gfx942", opcodes(), {}, book);
  EXPECT_EQ(book.searches, 0u);
  EXPECT_EQ(first_result(program), first);
}

TEST_F(Superopt, ARuleHoldsForOtherConstantsAndRegisters) {
  so::Book book("");
  const auto searches = [&](const std::string& code) {
    const recover::Program program = around(code);
    const rewrite::Facts facts = facts_of(program);
    const size_t before = book.searches;
    size_t found = 0;
    for (const auto& windows : so::windows_of(facts, facts.graph.blocks[0], opcodes()))
      for (const so::Window& window : windows)
        found += so::cheaper(window.sequence, "gfx942", opcodes(), {}, book).size();
    EXPECT_GT(found, 0u);
    return book.searches - before;
  };
  const size_t all = searches("v_lshlrev_b32_e32 v8, 2, v0\nv_add_u32_e32 v8, v8, v1\n");
  EXPECT_EQ(searches("v_lshlrev_b32_e32 v8, 2, v3\nv_add_u32_e32 v8, v8, v2\n"), 0u);
  const size_t other = searches("v_lshlrev_b32_e32 v8, 7, v3\nv_add_u32_e32 v8, v8, v2\n");
  EXPECT_GT(other, 0u); // with that very constant
  EXPECT_LT(other, all);
}

TEST_F(Superopt, ADamagedBookIsNotUsedAndSaidToBe) {
  const std::string path = so::book_path();
  const recover::Program program = around("v_lshlrev_b32_e32 v8, 2, v0\nv_add_u32_e32 v8, v8, v1\n");
  const std::string first = first_result(program);
  const std::string sound = *read_text_file(path);
  const size_t rule = sound.find("v_lshl_add_u32 ");
  ASSERT_NE(rule, sound.npos);
  std::string changed = sound;
  changed[rule + 15] ^= 1;
  for (const std::string& damaged :
       {changed, sound.substr(0, sound.size() - 3), std::string("\0\1\2", 3), std::string(), sound + "more\n"}) {
    ASSERT_TRUE(write_text_file(path, damaged));
    const auto driver = std::move(*make_driver({.name = "superopt"}));
    ASSERT_TRUE(driver->notice());
    EXPECT_TRUE(driver->notice()->starts_with(path)) << *driver->notice();
    EXPECT_EQ(first_result(program), first);
    EXPECT_EQ(*read_text_file(path), sound); // and written anew
  }
}
