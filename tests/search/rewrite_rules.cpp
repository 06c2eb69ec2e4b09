#include "search/drivers/rewrite/rules.h"

#include "program_fixture.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

const char* const division = R"(
v_div_scale_f32 v4, s[2:3], v1, v1, v0
v_rcp_f32_e32 v5, v4
v_div_scale_f32 v6, vcc, v0, v1, v0
v_fma_f32 v7, -v4, v5, 1.0
v_fmac_f32_e32 v5, v7, v5
v_mul_f32_e32 v7, v6, v5
v_fma_f32 v8, -v4, v7, v6
v_fmac_f32_e32 v7, v8, v5
v_fma_f32 v4, -v4, v7, v6
v_div_fmas_f32 v4, v4, v5, v7
v_div_fixup_f32 v2, v4, v1, v0
global_store_dword v[10:11], v2, off
s_endpgm
)";

size_t lines(const std::string& text) { return size_t(std::ranges::count(text, '\n')); }

} // namespace

TEST(FastDivision, PreciseDivisionBecomesAReciprocalAndAProduct) {
  recover::Program program = program_of(division);
  std::vector<Idea> ideas = fast_division(facts_of(program));
  ASSERT_EQ(ideas.size(), 2u);
  std::string text = applied(program, ideas[0]);
  EXPECT_NE(text.find("v_rcp_f32"), std::string::npos) << text;
  EXPECT_EQ(text.find("v_div_"), std::string::npos) << text;
  EXPECT_EQ(lines(text), 4u + (text.find("s_nop") != std::string::npos)) << text;
}

TEST(FastDivision, TheRefinedFormHasAResidualStep) {
  recover::Program program = program_of(division);
  std::string text = applied(program, fast_division(facts_of(program)).at(1));
  EXPECT_NE(text.find("v_fma_f32"), std::string::npos) << text;
  EXPECT_EQ(text.find("v_div_"), std::string::npos) << text;
}

TEST(FastDivision, ADivisionWhoseScaleIsUsedElsewhereKeepsThatPart) {
  std::string body = division;
  body.replace(body.find("s_endpgm"), 8, "global_store_dword v[10:11], v6, off offset:4\ns_endpgm");
  recover::Program program = program_of(body);
  std::string text = applied(program, fast_division(facts_of(program)).at(0));
  EXPECT_NE(text.find("v_div_scale_f32 v6"), std::string::npos) << text;
}

TEST(TightenWaits, AWaitMovesToTheFirstUse) {
  recover::Program program = program_of("global_load_dword v2, v[0:1], off\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "v_add_u32_e32 v3, 1, v4\n"
                                        "v_add_u32_e32 v2, v2, v3\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  std::string text = applied(program, tighten_waits(facts_of(program)).at(0));
  EXPECT_LT(text.find("v_add_u32_e32 v3"), text.find("s_waitcnt vmcnt(0)")) << text;
  EXPECT_LT(text.find("s_waitcnt vmcnt(0)"), text.find("v_add_u32_e32 v2")) << text;
}

TEST(TightenWaits, AWaitForTheOlderOfTwoLoadsLeavesTheYoungerOneInFlight) {
  recover::Program program = program_of("global_load_dword v2, v[0:1], off\n"
                                        "global_load_dword v3, v[0:1], off offset:64\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "v_add_u32_e32 v4, 1, v2\n"
                                        "v_add_u32_e32 v5, v4, v3\n"
                                        "global_store_dword v[0:1], v5, off\n"
                                        "s_endpgm\n");
  std::string text = applied(program, tighten_waits(facts_of(program)).at(0));
  EXPECT_NE(text.find("s_waitcnt vmcnt(1)"), std::string::npos) << text;
}

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

TEST(RemoveDeadCode, AResultThatNobodyReadsIsNotComputed) {
  recover::Program program = program_of("v_add_u32_e32 v3, 1, v2\n"
                                        "v_mul_lo_u32 v4, v3, v3\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  std::string text = applied(program, remove_dead_code(facts_of(program)).at(0));
  EXPECT_EQ(text, "global_store_dword v[0:1], v2, off\ns_endpgm\n");
}

TEST(RemoveDeadCode, AStoreIsNeverDead) {
  recover::Program program = program_of("global_store_dword v[0:1], v2, off\ns_endpgm\n");
  auto edits = complete(facts_of(program), remove_dead_code(facts_of(program)).at(0));
  EXPECT_TRUE(!edits || edits->empty());
}

TEST(RemoveDuplicates, TheSecondOfTwoEqualComputationsGoes) {
  recover::Program program = program_of("v_lshlrev_b32_e32 v3, 2, v2\n"
                                        "v_lshlrev_b32_e32 v4, 2, v2\n"
                                        "v_add_u32_e32 v5, v3, v4\n"
                                        "global_store_dword v[0:1], v5, off\n"
                                        "s_endpgm\n");
  std::string text = applied(program, remove_duplicates(facts_of(program)).at(0));
  EXPECT_NE(text.find("v_add_u32_e32 v5, v3, v3"), std::string::npos) << text;
  EXPECT_EQ(lines(text), 4u) << text;
}

TEST(RemoveDuplicates, ASourceThatChangedMakesItANewValue) {
  recover::Program program = program_of("v_lshlrev_b32_e32 v3, 2, v2\n"
                                        "v_add_u32_e32 v2, 1, v2\n"
                                        "v_lshlrev_b32_e32 v4, 2, v2\n"
                                        "v_add_u32_e32 v5, v3, v4\n"
                                        "global_store_dword v[0:1], v5, off\n"
                                        "s_endpgm\n");
  EXPECT_TRUE(remove_duplicates(facts_of(program)).empty());
}

TEST(RemoveDuplicates, ChangedExecMakesItANewValue) {
  recover::Program program = program_of("v_lshlrev_b32_e32 v3, 2, v2\n"
                                        "s_mov_b64 exec, s[4:5]\n"
                                        "v_lshlrev_b32_e32 v4, 2, v2\n"
                                        "v_add_u32_e32 v5, v3, v4\n"
                                        "global_store_dword v[0:1], v5, off\n"
                                        "s_endpgm\n");
  EXPECT_TRUE(remove_duplicates(facts_of(program)).empty());
}

TEST(UnguardedExp, TheDenormalGuardOfAnExponentialGoes) {
  recover::Program program = program_of("v_mul_f32_e32 v5, 0x3fb8aa3b, v4\n"
                                        "v_cmp_gt_f32_e32 vcc, s2, v5\n"
                                        "s_nop 1\n"
                                        "v_cndmask_b32_e32 v3, 0, v8, vcc\n"
                                        "v_fmac_f32_e32 v3, 0x3fb8aa3b, v4\n"
                                        "v_exp_f32_e32 v3, v3\n"
                                        "v_cndmask_b32_e32 v6, 0, v9, vcc\n"
                                        "v_ldexp_f32 v3, v3, v6\n"
                                        "global_store_dword v[0:1], v3, off\n"
                                        "s_endpgm\n");
  std::vector<Idea> ideas = unguarded_exp(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  std::string text = applied(program, ideas[0]);
  EXPECT_EQ(text.find("v_ldexp_f32"), std::string::npos) << text;
  EXPECT_EQ(text.find("v_cndmask"), std::string::npos) << text;
  EXPECT_NE(text.find("v_mul_f32_e32 v3, 0x3fb8aa3b, v4"), std::string::npos) << text;
}

TEST(FastSquareRoot, ThePreciseSequenceBecomesOneInstruction) {
  recover::Program program = program_of("v_mul_f32_e32 v4, 0x4f800000, v1\n"
                                        "v_cmp_gt_f32_e32 vcc, s0, v1\n"
                                        "s_nop 1\n"
                                        "v_cndmask_b32_e32 v1, v1, v4, vcc\n"
                                        "v_sqrt_f32_e32 v4, v1\n"
                                        "s_nop 0\n"
                                        "v_add_u32_e32 v5, -1, v4\n"
                                        "v_add_u32_e32 v6, 1, v4\n"
                                        "v_fma_f32 v7, -v5, v4, v1\n"
                                        "v_fma_f32 v8, -v6, v4, v1\n"
                                        "v_cmp_ge_f32_e64 s[0:1], 0, v7\n"
                                        "s_nop 1\n"
                                        "v_cndmask_b32_e64 v4, v4, v5, s[0:1]\n"
                                        "v_cmp_lt_f32_e64 s[0:1], 0, v8\n"
                                        "s_nop 1\n"
                                        "v_cndmask_b32_e64 v4, v4, v6, s[0:1]\n"
                                        "v_mul_f32_e32 v5, 0x37800000, v4\n"
                                        "v_cndmask_b32_e32 v4, v4, v5, vcc\n"
                                        "v_mov_b32_e32 v5, 0x260\n"
                                        "v_cmp_class_f32_e32 vcc, v1, v5\n"
                                        "s_nop 1\n"
                                        "v_cndmask_b32_e32 v1, v4, v1, vcc\n"
                                        "global_store_dword v[10:11], v1, off\n"
                                        "s_endpgm\n");
  std::vector<Idea> ideas = fast_square_root(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  std::string text = applied(program, ideas[0]);
  EXPECT_NE(text.find("v_sqrt_f32_e32 v1, v1"), std::string::npos) << text;
  EXPECT_LE(lines(text), 4u) << text;
}

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

TEST(Complete, WaitsThatArePutBackAsTheyWereAreNoProposal) {
  recover::Program program = program_of("global_load_dword v2, v[0:1], off\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "v_add_u32_e32 v2, 1, v2\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  auto edits = complete(facts_of(program), tighten_waits(facts_of(program)).at(0));
  ASSERT_TRUE(edits);
  EXPECT_TRUE(edits->empty()) << edits->front().text;
}

TEST(Complete, ARegisterIsNotCopiedToItself) {
  recover::Program program = program_of("v_mov_b32_e32 v2, v2\nglobal_store_dword v[0:1], v2, off\ns_endpgm\n");
  EXPECT_EQ(applied(program, remove_dead_code(facts_of(program)).at(0)),
            "global_store_dword v[0:1], v2, off\ns_endpgm\n");
}

TEST(Difference, LeadsFromOneProgramToTheOther) {
  recover::Program before =
      program_of("v_add_u32_e32 v2, 1, v2\nv_add_u32_e32 v3, 1, v3\nv_add_u32_e32 v4, 1, v4\ns_endpgm\n");
  std::vector<recover::Edit> edits = {{1, 2, "v_add_u32_e32 v5, 1, v5\nv_add_u32_e32 v6, 1, v6\n"}, {3, 4, ""}};
  auto after = recover::apply(before, edits, codec());
  ASSERT_TRUE(after);
  auto again = recover::apply(before, difference(before, *after), codec());
  ASSERT_TRUE(again);
  EXPECT_EQ(text_of(*again), text_of(*after));
}
