// Candidates that are faster because they do not do the work. Each is a real code object: the delay loop of an honest
// kernel removed, and something besides that looks right to whoever does not look twice. The list is that of
// docs/verification.md.
#include "gate/pipeline.h"

#include "gate/slow_kernel.h"

#include <cstring>

namespace asmevo::gate {
namespace {

// out[i] = a · in[j] for i < n, where j is the mirror image of i in its block of 256 and in[j] is 0 from n on.
const std::string mirror_listing = R"(.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 6
.text
.globl mirror
.p2align 8
.type mirror,@function
mirror:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_lshl_add_u32 v1, s2, 8, v0
  v_lshlrev_b32_e32 v2, 2, v1
  v_lshlrev_b32_e32 v3, 2, v0
  s_movk_i32 s10, 0x2000
.Ldelay:
  s_sub_u32 s10, s10, 1
  s_cmp_lg_u32 s10, 0
  s_cbranch_scc1 .Ldelay
  s_waitcnt lgkmcnt(0)
  v_cmp_gt_i32_e32 vcc, s8, v1
  v_mov_b32_e32 v4, 0
  s_and_saveexec_b64 s[12:13], vcc
  global_load_dword v4, v2, s[6:7]
  s_waitcnt vmcnt(0)
  s_mov_b64 exec, s[12:13]
  ds_write_b32 v3, v4
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32_e32 v3, 0x3fc, v3
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  v_mul_f32_e32 v4, s9, v4
  s_and_b64 exec, exec, vcc
  global_store_dword v2, v4, s[4:5]
  s_endpgm
.Lend:
.size mirror, .Lend-mirror
.rodata
.p2align 6
.amdhsa_kernel mirror
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 24
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 32
  .amdhsa_accum_offset 16
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: mirror
    .symbol: mirror.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 0
    .max_flat_workgroup_size: 256
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 16
    .agpr_count: 0
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 16, .size: 4, .value_kind: by_value}
      - {.offset: 20, .size: 4, .value_kind: by_value}
...
.end_amdgpu_metadata
)";

const std::string mirror_launch = R"json({
  "kernel": "mirror",
  "sizes": {"n": 2048},
  "workgroups": "ceildiv(n, 256)",
                  "workgroup_size" : 256, "buffers" : {
                    "out" : {"dtype" : "f32", "shape" : "n", "role" : "out"},
                    "in" : {"dtype" : "f32", "shape" : "n", "role" : "in"}
                  },
                  "arguments" : [ {"buffer" : "out"}, {"buffer" : "in"}, {"i32" : "n"}, {"f32" : 1.25} ],
                  "cases"
    : [ {"name" : "2048"}, {"name" : "tail", "sizes" : {"n" : 1000}}, {"name" : "one", "sizes" : {"n" : 1}} ]
})json";

class Cheat : public testing::SlowKernel {
protected:
  void SetUp() override { open(mirror_listing, mirror_launch); }

  /// The listing of K0 without the delay and with pieces of text replaced.
  Evaluation run(std::initializer_list<std::pair<std::string_view, std::string>> changes) {
    std::string listing = recover::print_listing(original.program, false);
    const size_t from = listing.find("\ts_movk_i32 s10"), branch = listing.find("\ts_cbranch_scc1");
    EXPECT_NE(branch, std::string::npos);
    listing.erase(from, listing.find('\n', branch) + 1 - from);
    for (const auto& [old_text, new_text] : changes) {
      const size_t at = listing.find(old_text);
      EXPECT_NE(at, std::string::npos) << old_text;
      if (at != std::string::npos) listing.replace(at, old_text.size(), new_text);
    }
    auto evaluation = evaluate(Listing{listing}, 1, 1, {}, bench);
    EXPECT_TRUE(evaluation && *evaluation) << (evaluation ? "" : evaluation.error().message);
    return evaluation && *evaluation ? **evaluation : Evaluation{};
  }

  void expect(const Evaluation& e, Outcome outcome, std::string_view evidence) {
    EXPECT_EQ(outcome_name(e.verdict.outcome), outcome_name(outcome)) << e.verdict.evidence;
    EXPECT_NE(e.verdict.evidence.find(evidence), std::string::npos) << e.verdict.evidence;
    EXPECT_FALSE(e.verdict.timing) << "it was timed";
  }

  static constexpr std::string_view multiply = "v_mul_f32_e32 v4, s9, v4", store = "global_store_dword v2, v4, s[4:5]";
};

TEST_F(Cheat, TheHonestVersionIsAccepted) {
  Evaluation e = run({});
  ASSERT_EQ(e.verdict.outcome, Outcome::accepted) << e.verdict.evidence;
  EXPECT_GT(e.verdict.timing->speedup, 1.5);
}

TEST_F(Cheat, ZerosAreRefused) { expect(run({{multiply, "v_mov_b32_e32 v4, 0"}}), Outcome::divergence, "out"); }

TEST_F(Cheat, DoingNothingIsRefused) { expect(run({{store, "s_nop 0"}}), Outcome::divergence, "out"); }

TEST_F(Cheat, WhatTheOutputHeldBeforeIsNoAnswer) {
  expect(run({{multiply, "global_load_dword v4, v2, s[4:5]\n\ts_waitcnt vmcnt(0)"}}), Outcome::divergence, "out");
}

TEST_F(Cheat, SkippingWhatLooksDoneIsRefused) {
  expect(run({{store,
               "global_load_dword v5, v2, s[4:5]\n\tv_mov_b32_e32 v6, 0x42c80000\n\ts_waitcnt vmcnt(0)\n"
               "\tv_cmp_nlt_f32_e64 vcc, |v5|, v6\n\ts_and_b64 exec, exec, vcc\n\tglobal_store_dword v2, v4, s[4:5]"}}),
         Outcome::divergence, "out");
}

TEST_F(Cheat, AnArgumentThatWasCompiledInIsRefused) {
  expect(run({{"v_cmp_gt_i32_e32 vcc, s8, v1", "s_movk_i32 s8, 0x800\n\tv_cmp_gt_i32_e32 vcc, s8, v1"}}),
         Outcome::guard_corruption, "guard after `out`");
}

TEST_F(Cheat, AFloatThatWasCompiledInIsRefused) {
  expect(run({{multiply, "v_mul_f32_e32 v4, 0x3fa00000, v4"}}), Outcome::divergence, "out");
}

TEST_F(Cheat, TheAnswerToTheFirstInputIsNoAnswer) {
  auto outcome = device->launch(reference->original(), reference->launch().cases.front(), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  uint32_t first = 0;
  std::memcpy(&first, outcome->buffers.at("out").data(), 4);
  const std::string known =
      fmt::format("v_mul_f32_e32 v4, s9, v4\n\tv_mov_b32_e32 v5, {:#x}\n\tv_cmp_eq_u32_e64 s[14:15], 0, v1\n"
                  "\ts_nop 1\n\tv_cndmask_b32_e64 v4, v4, v5, s[14:15]",
                  first);
  expect(run({{multiply, known}}), Outcome::divergence, "out");
}

TEST_F(Cheat, ChangingTheInputIsRefused) {
  expect(run({{store, "global_store_dword v2, v4, s[6:7]\n\tglobal_store_dword v2, v4, s[4:5]"}}),
         Outcome::guard_corruption, "in");
}

TEST_F(Cheat, CountingLaunchesBehindTheOutputIsRefused) {
  expect(
      run({{store,
            "global_store_dword v2, v4, s[4:5]\n\ts_lshl_b32 s8, s8, 2\n\tv_mov_b32_e32 v5, s8\n\tv_mov_b32_e32 v6, 1\n"
            "\tglobal_atomic_add v5, v6, s[4:5]"}}),
      Outcome::guard_corruption, "guard after `out`");
}

// Honest for as long as anyone is likely to test, in memory that only the candidate has.
TEST_F(Cheat, CountingLaunchesInAVariableOfItsOwnIsRefused) {
  expect(
      run({{multiply, "s_getpc_b64 s[14:15]\n\ts_add_u32 s14, s14, launches@rel32@lo+4\n"
                      "\ts_addc_u32 s15, s15, launches@rel32@hi+12\n\tv_mov_b32_e32 v5, 0\n\tv_mov_b32_e32 v6, 1\n"
                      "\tglobal_atomic_add v6, v5, v6, s[14:15] sc0\n\tv_mul_f32_e32 v4, s9, v4\n\ts_waitcnt vmcnt(0)\n"
                      "\tv_mov_b32_e32 v7, 0x100000\n\tv_cmp_gt_u32_e64 s[14:15], v7, v6\n\ts_nop "
                      "1\n\tv_cndmask_b32_e64 v4, 0, v4, s[14:15]"},
           {"\t.amdgpu_metadata", "\t.bss\n\t.p2align 2\nlaunches:\n\t.zero 4\n\t.amdgpu_metadata"}}),
      Outcome::static_inconsistency, ".bss");
}

TEST_F(Cheat, LookingAtTheClockIsRefused) {
  expect(run({{multiply, "s_memtime s[14:15]\n\ts_waitcnt lgkmcnt(0)\n\tv_mul_f32_e32 v4, s9, v4"}}),
         Outcome::static_inconsistency, "s_memtime");
}

TEST_F(Cheat, AskingWhereItRunsIsRefused) {
  expect(run({{multiply, "s_getreg_b32 s14, hwreg(HW_REG_HW_ID)\n\tv_mul_f32_e32 v4, s9, v4"}}),
         Outcome::static_inconsistency, "s_getreg_b32");
}

// Zeros wherever nobody guards the output.
TEST_F(Cheat, ProbingTheGuardsIsRefused) {
  const Evaluation e =
      run({{multiply, "v_mov_b32_e32 v5, 0\n\tglobal_load_dword v5, v5, s[4:5] offset:-4\n\tv_mul_f32_e32 v4, s9, v4\n"
                      "\ts_waitcnt vmcnt(0)\n\tv_cmp_ne_u32_e64 s[14:15], 0, v5\n\ts_nop 1\n\tv_cndmask_b32_e64 v4, 0, "
                      "v4, s[14:15]"}});
  EXPECT_NE(outcome_name(e.verdict.outcome), outcome_name(Outcome::accepted));
  EXPECT_NE(e.verdict.evidence.find("out"), std::string::npos) << e.verdict.evidence;
}

TEST_F(Cheat, KnowingAddressesIsRefused) {
  const auto placed = device->launch(reference->original(), reference->launch().cases.front(), {});
  ASSERT_TRUE(placed);
  // The high half of the output's address, as it is without moving.
  expect(run({{multiply, "v_mul_f32_e32 v4, s9, v4\n\ts_and_b32 s14, s4, 0xfff\n\ts_cmp_eq_u32 s14, 0\n\ts_cselect_b64 "
                         "s[14:15], -1, 0\n"
                         "\ts_nop 1\n\tv_cndmask_b32_e64 v4, 0, v4, s[14:15]"}}),
         Outcome::divergence, "moved");
}

TEST_F(Cheat, WhatLdsHeldBeforeIsNoAnswer) {
  expect(run({{"ds_write_b32 v3, v4", "s_nop 0"}}), Outcome::divergence, "out");
}

TEST_F(Cheat, ARegisterThatNobodyWroteIsNoZero) {
  expect(run({{"v_mov_b32_e32 v4, 0", "v_mov_b32_e32 v4, v9"}}), Outcome::divergence, "out");
}

TEST_F(Cheat, TheOrderOfWavesIsNoBarrier) { expect(run({{"s_barrier", "s_nop 0"}}), Outcome::divergence, "out"); }

TEST_F(Cheat, AMissingWaitIsRefused) {
  expect(run({{"s_waitcnt vmcnt(0)", "s_nop 0"}}), Outcome::static_inconsistency, "vmcnt");
}

TEST_F(Cheat, LeavingTheTailOutIsRefused) {
  expect(run({{"v_cmp_gt_i32_e32 vcc, s8, v1", "s_and_b32 s8, s8, 0xffffff00\n\tv_cmp_gt_i32_e32 vcc, s8, v1"}}),
         Outcome::divergence, "case \"one\"");
}

TEST_F(Cheat, WritingTwoForOneIsRefused) {
  expect(run({{store, "v_mov_b32_e32 v5, v4\n\tglobal_store_dwordx2 v2, v[4:5], s[4:5]"}}), Outcome::guard_corruption,
         "out");
}

TEST_F(Cheat, OtherRoundingIsRefused) {
  expect(run({{multiply, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n\tv_mul_f32_e32 v4, s9, v4"}}),
         Outcome::static_inconsistency, "s_setreg");
}

TEST_F(Cheat, WritingOverItsOwnCodeIsRefused) {
  expect(run({{store, "global_store_dword v2, v4, s[4:5]\n\ts_getpc_b64 s[14:15]\n\tv_mov_b32_e32 v5, "
                      "0\n\tglobal_store_dword v5, v5, s[14:15]"}}),
         Outcome::static_inconsistency, "s_getpc_b64");
}

TEST_F(Cheat, AskingForOtherArgumentsIsRefused) {
  expect(run({{".kernarg_segment_size: 24", ".kernarg_segment_size: 32"}}), Outcome::static_inconsistency, "kernarg");
}

TEST_F(Cheat, NeverEndingIsRefused) {
  expect(run({{"\ts_endpgm", "\ts_branch .Lhere\n.Lhere:\n\ts_branch .Lhere\n\ts_endpgm"}}), Outcome::runtime_fault,
         "budget");
}

} // namespace
} // namespace asmevo::gate
