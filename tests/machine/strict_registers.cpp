// Strict mode: registers, LDS and scratch that nothing has written.
#include "strict_fixture.h"

using namespace asmevo;
using namespace asmevo::machine;

namespace {

void expect_uninitialised(const StrictRun& r, std::string_view consumer, std::string_view text) {
  ASSERT_EQ(r.count(FindingKind::uninitialised), 1u) << r.text();
  const Finding& f = *r.find(FindingKind::uninitialised);
  EXPECT_EQ(r.mnemonic(f.instruction), consumer);
  EXPECT_NE(f.message.find(text), std::string::npos) << f.message;
}

} // namespace

TEST(StrictRegisters, FindsAVectorRegisterThatNothingHasWritten) {
  expect_uninitialised(StrictRun("v_add_u32 v2, v0, v7"), "v_add_u32", "reads lane 0 of v7");
}

TEST(StrictRegisters, FollowsLanes) {
  const StrictRun r("s_mov_b64 exec, 0xff\nv_mov_b32 v2, 1\ns_mov_b64 exec, -1\nv_add_u32 v3, v2, v0");
  expect_uninitialised(r, "v_add_u32", "reads lane 8 of v2");
  EXPECT_EQ(r.find(FindingKind::uninitialised)->lane, 8);
}

TEST(StrictRegisters, PartialExecReadsOnlyItsLanes) {
  EXPECT_EQ(StrictRun("s_mov_b64 exec, 0xff\nv_mov_b32 v2, 1\nv_add_u32 v3, v2, v0\ns_mov_b64 exec, -1").text(), "");
}

TEST(StrictRegisters, FindsAScalarRegisterThatNothingHasWritten) {
  expect_uninitialised(StrictRun("s_add_u32 s8, s2, s9"), "s_add_u32", "reads s9");
  EXPECT_EQ(StrictRun("s_add_u32 s8, s2, s3").text(), "");
  expect_uninitialised(StrictRun("s_cbranch_vccz next\nnext:"), "s_cbranch_vccz", "reads vcc_lo");
}

TEST(StrictRegisters, GprIndexingKeepsWhatElseIsInM0) {
  EXPECT_EQ(StrictRun("s_set_gpr_idx_on s2, gpr_idx(SRC0)\ns_set_gpr_idx_off").text(), "");
}

TEST(StrictRegisters, FollowsVectorRegistersThatAnIndexMoves) {
  const std::string init = "v_mov_b32 v2, 1\nv_mov_b32 v5, 1\ns_mov_b32 s8, 3\n";
  const auto source = [&](std::string_view enable) {
    return init + fmt::format("s_set_gpr_idx_on s8, gpr_idx({})\nv_mov_b32 v3, v2\ns_set_gpr_idx_off", enable);
  };
  EXPECT_EQ(StrictRun(source("SRC0")).text(), "");
  expect_uninitialised(StrictRun("v_mov_b32 v2, 1\ns_mov_b32 s8, 4\ns_set_gpr_idx_on s8, gpr_idx(SRC0)\n"
                                 "v_mov_b32 v3, v2\ns_set_gpr_idx_off"),
                       "v_mov_b32", "lane 0 of v6");
  EXPECT_EQ(StrictRun(source("SRC1")).text(), ""); // v_mov has no second source
  // What the index writes is written, what the instruction names is not.
  EXPECT_EQ(StrictRun(source("DST") + "\nv_add_u32 v10, v6, v2").text(), "");
  expect_uninitialised(StrictRun(source("DST") + "\nv_add_u32 v10, v3, v2"), "v_add_u32", "lane 0 of v3");
}

TEST(StrictRegisters, TwoSourcesOfOneRegisterAreMovedApart) {
  const auto sum = [](std::string_view enable) {
    return fmt::format("v_mov_b32 v2, 1\ns_mov_b32 s8, 3\ns_set_gpr_idx_on s8, gpr_idx({})\nv_add_u32 v3, v2, v2\n"
                       "s_set_gpr_idx_off",
                       enable);
  };
  expect_uninitialised(StrictRun(sum("SRC0")), "v_add_u32", "lane 0 of v5");
  expect_uninitialised(StrictRun(sum("SRC1")), "v_add_u32", "lane 0 of v5");
}

TEST(StrictRegisters, FollowsScalarRegistersThatM0Moves) {
  const std::string init = "s_mov_b32 s13, 1\ns_mov_b32 m0, 3\ns_nop 0\n";
  EXPECT_EQ(StrictRun(init + "s_movrels_b32 s8, s10").text(), "");
  expect_uninitialised(StrictRun(init + "s_movrels_b32 s8, s11"), "s_movrels_b32", "s14");
  EXPECT_EQ(StrictRun(init + "s_movreld_b32 s20, s13\ns_add_u32 s8, s23, 1").text(), "");
  expect_uninitialised(StrictRun(init + "s_movreld_b32 s20, s13\ns_add_u32 s8, s20, 1"), "s_add_u32", "s20");
}

TEST(StrictRegisters, WhatVskipSkipsIsNotLookedAt) {
  EXPECT_EQ(StrictRun("s_setvskip 1, 0\ns_nop 7\nv_add_u32 v3, v30, v31\ns_setvskip 0, 0").text(), "");
}

TEST(StrictRegisters, TheMaskOfLanesThatAreOffMayBeKeptUnset) {
  EXPECT_EQ(StrictRun("s_andn2_b64 s[10:11], s[12:13], exec").text(), "");
  expect_uninitialised(StrictRun("s_andn2_b64 s[10:11], s[12:13], s[2:3]"), "s_andn2_b64", "s12");
}

TEST(StrictRegisters, MatrixInstructionsReadAllLanes) {
  const std::string init = "v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nv_mov_b32 v8, 0\nv_mov_b32 v9, 0\nv_mov_b32 v10, 0\n"
                           "v_mov_b32 v11, 0\n";
  const std::string mfma = "s_nop 4\nv_mfma_f32_16x16x16_f16 v[8:11], v[2:3], v[2:3], v[8:11]";
  EXPECT_EQ(StrictRun(init + mfma).text(), "");
  expect_uninitialised(StrictRun("s_mov_b64 exec, 1\n" + init + mfma), "v_mfma_f32_16x16x16_f16", "lane 1 of");
}

TEST(StrictRegisters, AccumulatorsBehindTheOffsetAreVectorRegistersToo) {
  EXPECT_EQ(StrictRun("v_accvgpr_write_b32 a3, 1\nv_accvgpr_read_b32 v2, a3").text(), "");
  expect_uninitialised(StrictRun("v_accvgpr_read_b32 v2, a4"), "v_accvgpr_read_b32", "a4");
}

TEST(StrictRegisters, APartThatIsKeptIsNotRead) {
  EXPECT_EQ(StrictRun("v_mov_b32 v1, 0\nglobal_load_short_d16 v2, v1, s[0:1]\ns_waitcnt vmcnt(0)").text(), "");
  EXPECT_EQ(StrictRun("s_mov_b32 s8, 1\nv_writelane_b32 v5, s8, 3\ns_nop 0\nv_readlane_b32 s9, v5, 3").text(), "");
  expect_uninitialised(StrictRun("s_mov_b32 s8, 1\nv_writelane_b32 v5, s8, 3\ns_nop 0\nv_readlane_b32 s9, v5, 4"),
                       "v_readlane_b32", "lane 4 of v5");
}

TEST(StrictRegisters, WorkItemIdsAreThereAsTheTargetGivesThem) {
  EXPECT_EQ(StrictRun("v_add_u32 v3, v0, v1", 64, isa::Processor::gfx908).text(), "");
  expect_uninitialised(StrictRun("v_add_u32 v3, v0, v1"), "v_add_u32", "v1");
}

TEST(StrictRegisters, FindsLdsThatNothingHasWritten) {
  const StrictRun r("v_lshlrev_b32 v1, 2, v0\nds_write_b32 v1, v0\nds_read_b32 v2, v1 offset:4\ns_waitcnt lgkmcnt(0)");
  expect_uninitialised(r, "ds_read_b32", "reads 4 bytes of LDS at 0x100, which nothing has written");
  EXPECT_EQ(r.find(FindingKind::uninitialised)->lane, 63);
}

TEST(StrictRegisters, FollowsLdsByBytesWhereTheKernelDoes) {
  EXPECT_EQ(StrictRun("ds_write_b8 v0, v0\nds_read_u8 v2, v0\ns_waitcnt lgkmcnt(0)").text(), "");
  expect_uninitialised(StrictRun("v_mov_b32 v1, 0\nds_write_b8 v1, v0\nds_read_u16 v2, v1\ns_waitcnt lgkmcnt(0)"),
                       "ds_read_u16", "LDS at 0x0");
}

TEST(StrictRegisters, FindsScratchThatNothingHasWritten) {
  const std::string store = "scratch_store_byte off, v0, off offset:8\n";
  EXPECT_EQ(StrictRun(store + "scratch_load_ubyte v2, off, off offset:8\ns_waitcnt vmcnt(0)").text(), "");
  expect_uninitialised(StrictRun(store + "scratch_load_dword v2, off, off offset:8\ns_waitcnt vmcnt(0)"),
                       "scratch_load_dword", "reads 4 bytes of scratch at 0x8");
}
