#include "text_run.h"

using namespace asmevo;
using namespace asmevo::machine;

namespace {

// Writes 1000 + its id to its own dword, after some work.
const std::string independent_text =
    "s_mov_b32 s10, 0\nagain: s_add_u32 s10, s10, 1\ns_cmp_lt_u32 s10, 3000\ns_cbranch_scc1 again\n"
    "s_lshl_b32 s5, s2, 2\nv_mov_b32 v1, s5\ns_add_u32 s6, s2, 1000\nv_mov_b32 v2, s6\n"
    "global_store_dword v1, v2, s[0:1]";
// Adds one to its left neighbour's dword: only the order of the workgroups makes a chain of it.
const std::string chain_text =
    "s_mov_b32 s10, 0\nagain: s_add_u32 s10, s10, 1\ns_cmp_lt_u32 s10, 3000\ns_cbranch_scc1 again\n"
    "s_lshl_b32 s5, s2, 2\nv_mov_b32 v1, s5\nglobal_load_dword v2, v1, s[0:1]\ns_waitcnt vmcnt(0)\n"
    "v_add_u32 v2, 1, v2\nglobal_store_dword v1, v2, s[0:1] offset:4";

} // namespace

TEST(Run, ThreadsDoNotChangeIndependentWorkgroups) {
  for (unsigned threads : {1u, 4u}) {
    TextRun r(independent_text);
    r.dispatch.workgroups = {200, 1, 1};
    r.options.threads = threads;
    const RunResult result = r.run();
    ASSERT_EQ(result.status, Status::completed);
    EXPECT_EQ(result.waves, 200u);
    EXPECT_EQ(result.instructions, 200u * (1 + 3 * 3000 + 6));
    for (unsigned k = 0; k < 200; ++k) ASSERT_EQ(r.dword(k), 1000 + k);
  }
}

TEST(Run, DependentWorkgroupsRunInOrderWithAnyNumberOfThreads) {
  for (unsigned threads : {1u, 2u, 8u}) {
    TextRun r(chain_text);
    r.dispatch.workgroups = {100, 1, 1};
    r.options.threads = threads;
    ASSERT_EQ(r.run().status, Status::completed);
    for (unsigned k = 0; k <= 100; ++k) ASSERT_EQ(r.dword(k), k) << threads << " threads";
  }
}

TEST(Run, SpinningOnALaterWorkgroupMakesProgress) {
  // Workgroup 0 waits for the flag that workgroup 3 sets; no atomics, nothing tells that they communicate.
  TextRun r(
      "v_mov_b32 v1, 0\ns_cmp_eq_u32 s2, 3\ns_cbranch_scc1 set\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 done\n"
      "wait: global_load_dword v2, v1, s[0:1] sc1\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s5, v2\ns_cmp_eq_u32 s5, 0\n"
      "s_cbranch_scc1 wait\nv_mov_b32 v3, 8\nglobal_store_dword v1, v3, s[0:1] offset:4\ns_branch done\n"
      "set: v_mov_b32 v2, 7\nglobal_store_dword v1, v2, s[0:1]\ndone:");
  r.dispatch.workgroups = {4, 1, 1};
  r.options.threads = 1;
  ASSERT_EQ(r.run().status, Status::completed);
  EXPECT_EQ(r.dword(0), 7u);
  EXPECT_EQ(r.dword(1), 8u);
}

TEST(Run, AtomicTicketsOfManyWorkgroupsAllCount) {
  // The last workgroup to take a ticket writes; the others wait for it to do so.
  TextRun r(
      "v_mov_b32 v1, 0\nv_mov_b32 v2, 1\ns_mov_b64 exec, 1\nglobal_atomic_add v3, v1, v2, s[0:1] sc0\ns_waitcnt "
      "vmcnt(0)\n"
      "v_readfirstlane_b32 s5, v3\ns_cmp_eq_u32 s5, 39\ns_cbranch_scc1 last\n"
      "wait: s_sleep 1\nglobal_load_dword v4, v1, s[0:1] offset:4 sc1\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s6, v4\n"
      "s_cmp_eq_u32 s6, 0\ns_cbranch_scc1 wait\ns_branch done\nlast: global_store_dword v1, v2, s[0:1] "
      "offset:4\ndone:\n"
      "global_atomic_add v1, v2, s[0:1] offset:8");
  r.dispatch.workgroups = {40, 1, 1};
  ASSERT_EQ(r.run().status, Status::completed);
  EXPECT_EQ(r.dword(0), 40u);
  EXPECT_EQ(r.dword(2), 40u);
}

TEST(Run, FaultsSayWorkgroupWaveAndLaneAtAnyNumberOfThreads) {
  for (unsigned threads : {1u, 4u}) {
    TextRun r("s_cmp_lg_u32 s2, 5\ns_cbranch_scc1 fine\nv_and_b32 v0, 0x3ff, v0\nv_cmp_lt_u32 vcc, 100, v0\n"
              "v_mov_b32 v1, 0x20000\nv_cndmask_b32 v1, 0, v1, vcc\nglobal_store_dword v1, v0, s[0:1]\nfine:\n" +
              independent_text);
    r.dispatch.workgroups = {64, 1, 1};
    r.dispatch.workgroup_size = {128, 1, 1};
    r.options.threads = threads;
    const RunResult result = r.run();
    ASSERT_EQ(result.status, Status::fault);
    EXPECT_EQ(result.fault->workgroup, 5u);
    EXPECT_EQ(result.fault->wave, 1u);
    EXPECT_EQ(result.fault->lane, 101 - 64);
    EXPECT_EQ(result.fault->data_address, out_base + 0x20000);
    EXPECT_EQ(result.fault->message, "global_store_dword writes 65540 bytes past the end of `out`");
    EXPECT_EQ(r.dword(4), 1004u); // workgroups before it have run, those after it have not
    EXPECT_EQ(r.dword(6), 0u);
  }
}

TEST(Run, EndlessLoopsEndWithTheBudget) {
  TextRun r("loop: s_branch loop");
  r.options.instruction_budget = 100'000;
  const RunResult result = r.run();
  EXPECT_EQ(result.status, Status::budget);
  EXPECT_GE(result.instructions, 100'000u);
  EXPECT_LT(result.instructions, 110'000u);
  EXPECT_EQ(result.fault->instruction, 0);
}

TEST(Run, WallClockBudgetAndStopFlagEndARun) {
  TextRun slow("loop: s_branch loop");
  slow.options.wall_budget = std::chrono::milliseconds(20);
  EXPECT_EQ(slow.run().status, Status::budget);
  TextRun stopped("loop: s_branch loop");
  const volatile bool stop = true;
  stopped.options.stop = &stop;
  EXPECT_EQ(stopped.run().status, Status::stopped);
}

TEST(Run, BarriersHoldWavesBack) {
  // Wave 1 writes LDS late; wave 0 reads it behind the barrier.
  TextRun r(
      "v_and_b32 v0, 0x3ff, v0\nv_readfirstlane_b32 s5, v0\nv_mov_b32 v1, 0\ns_cmp_eq_u32 s5, 0\ns_cbranch_scc1 meet\n"
      "s_mov_b32 s10, 0\nagain: s_add_u32 s10, s10, 1\ns_cmp_lt_u32 s10, 1000\ns_cbranch_scc1 again\n"
      "v_mov_b32 v2, 42\nds_write_b32 v1, v2\nmeet: s_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v3, v1\ns_waitcnt "
      "lgkmcnt(0)\n"
      "v_lshlrev_b32 v4, 2, v0\nglobal_store_dword v4, v3, s[0:1]");
  r.dispatch.workgroup_size = {128, 1, 1};
  for (Schedule schedule :
       {Schedule::round_robin, Schedule::run_to_barrier, Schedule::seeded_random, Schedule::late_loads}) {
    r.options.schedule = schedule;
    ASSERT_EQ(r.run().status, Status::completed);
    EXPECT_EQ(r.dword(0), 42u);
    EXPECT_EQ(r.dword(127), 42u);
    std::memset(r.out.data(), 0, 512);
  }
}

TEST(Run, WorkItemIdsArePackedAndTailsAreShort) {
  // Stores the packed id at the flat index of the work-item; y runs over 3 rows, the last workgroup in x is short.
  TextRun r("v_and_b32 v1, 0x3ff, v0\nv_bfe_u32 v2, v0, 10, 10\ns_mul_i32 s5, s2, 16\nv_add_u32 v1, s5, v1\n"
            "v_mul_u32_u24 v2, 40, v2\nv_add_u32 v1, v1, v2\nv_lshlrev_b32 v1, 2, v1\nv_mov_b32 v3, 1\n"
            "global_atomic_add v1, v3, s[0:1]");
  r.dispatch.workgroups = {3, 1, 1};
  r.dispatch.workgroup_size = {16, 3, 1};
  r.dispatch.grid_size = {40, 3, 1};
  ASSERT_EQ(r.run().status, Status::completed);
  for (unsigned k = 0; k < 120; ++k) EXPECT_EQ(r.dword(k), 1u) << k;
  EXPECT_EQ(r.dword(120), 0u);
}

TEST(Run, TracesRecordInstructionsLanesAndAccessPatterns) {
  TextRun r("v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\ns_mov_b64 exec, 0xff\nglobal_load_dword v2, v1, s[0:1] "
            "offset:256\n"
            "ds_read2_b32 v[4:5], v1 offset1:8\ns_load_dword s8, s[0:1], 0x40");
  r.dispatch.workgroups = {8, 1, 1};
  r.options.traced = {2, 5};
  const RunResult result = r.run();
  ASSERT_EQ(result.status, Status::completed);
  ASSERT_EQ(result.trace.waves.size(), 2u);
  const WaveTrace& wave = result.trace.waves[1];
  EXPECT_EQ(wave.workgroup, 5u);
  ASSERT_EQ(wave.events.size(), 7u);
  EXPECT_EQ(wave.active_lanes[1], 64u);
  EXPECT_EQ(wave.active_lanes[3], 8u);
  const AccessPattern& global = result.trace.patterns[wave.events[3].pattern];
  EXPECT_EQ(global.space, Space::global);
  EXPECT_EQ(wave.events[3].base, out_base + 256);
  EXPECT_EQ(global.offset[7], 28u);
  EXPECT_EQ(global.offset[8], inactive_lane);
  const AccessPattern& first = result.trace.patterns[wave.events[4].pattern];
  EXPECT_EQ(first.space, Space::lds);
  EXPECT_EQ(first.offset[1], 4u);
  ASSERT_NE(first.next, no_pattern);
  EXPECT_EQ(result.trace.patterns[first.next].offset[1], 36u);
  const AccessPattern& scalar = result.trace.patterns[wave.events[5].pattern];
  EXPECT_EQ(scalar.space, Space::scalar);
  EXPECT_EQ(wave.events[5].base, out_base + 0x40);
  EXPECT_EQ(scalar.offset[0], 0u);
  EXPECT_EQ(wave.events[6].pattern, no_pattern);
}

TEST(Run, OnlyTracedWorkgroupsRunWhenAskedFor) {
  TextRun r(independent_text);
  r.dispatch.workgroups = {20, 1, 1};
  r.options.traced = {3};
  r.options.only_traced = true;
  EXPECT_EQ(r.run().waves, 1u);
  EXPECT_EQ(r.dword(3), 1003u);
  EXPECT_EQ(r.dword(2), 0u);
}

TEST(Run, ATraceForTimingIsNotMadeUnderWatch) {
  TextRun r(independent_text);
  r.options.traced = {0};
  r.options.strict = true;
  EXPECT_FALSE(machine::run(r.image, r.dispatch, r.memory, r.options));
  r.options.strict = false;
  r.options.schedule = Schedule::late_loads;
  EXPECT_FALSE(machine::run(r.image, r.dispatch, r.memory, r.options));
}

TEST(Run, ImpossibleDispatchesAreErrors) {
  TextRun r(independent_text);
  auto fails = [&](auto change, const char* what) {
    Dispatch dispatch = r.dispatch;
    change(dispatch);
    auto result = machine::run(r.image, dispatch, r.memory, r.options);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find(what), std::string::npos) << result.error().message;
  };
  fails([](Dispatch& d) { d.kernel = nullptr; }, "names no kernel");
  fails([](Dispatch& d) { d.workgroup_size = {1024, 2, 1}; }, "1024 are possible");
  fails([](Dispatch& d) { d.workgroups = {0, 1, 1}; }, "grid");
  fails([](Dispatch& d) { d.grid_size = {65, 1, 1}; }, "do not make");
  fails([](Dispatch& d) { d.dynamic_lds = 70000; }, "LDS");
}
