// Strict mode: races, bounds and alignment.
#include "strict_fixture.h"

using namespace asmevo;
using namespace asmevo::machine;

namespace {

/// v1 = 4 * work-item, v2 = 4 * ((work-item + 64) mod 128): the other wave's place.
const std::string places = "v_lshlrev_b32 v1, 2, v0\nv_xor_b32 v2, 0x100, v1\n";

/// Small kernels meet in both directions; one of them must be the one that is looked for.
void expect_race(const StrictRun& r, std::string_view later, std::string_view earlier, std::string_view text) {
  for (const Finding& f : r.result.strict.findings)
    if (f.kind == FindingKind::race && r.mnemonic(f.instruction) == later && r.mnemonic(f.cause) == earlier) {
      EXPECT_NE(f.message.find(text), std::string::npos) << f.message;
      return;
    }
  ADD_FAILURE() << "no race of " << later << " with " << earlier << " among\n" << r.text();
}

} // namespace

TEST(StrictRaces, FindsAnLdsReadOfAnotherWavesWriteWithoutABarrier) {
  const std::string write = places + "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n",
                    read = "ds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)";
  expect_race(StrictRun(write + read, 128), "ds_read_b32", "ds_write_b32", "which wave 0 has written");
  EXPECT_EQ(StrictRun(write + "s_barrier\n" + read, 128).text(), "");
}

TEST(StrictRaces, FindsAnLdsWriteOverWhatAnotherWaveReads) {
  const std::string text =
      places + "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\n";
  expect_race(StrictRun(text + "ds_write_b32 v1, v3", 128), "ds_write_b32", "ds_read_b32", "has read");
  EXPECT_EQ(StrictRun(text + "s_barrier\nds_write_b32 v1, v3", 128).text(), "");
}

TEST(StrictRaces, ABarrierDoesNotWaitForLds) {
  const std::string read = "ds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)";
  expect_race(StrictRun(places + "ds_write_b32 v1, v0\ns_barrier\n" + read, 128), "ds_read_b32", "ds_write_b32",
              "has written");
  // The next barrier, at which it has been waited for, orders it.
  EXPECT_EQ(StrictRun(places + "ds_write_b32 v1, v0\ns_barrier\ns_waitcnt lgkmcnt(0)\ns_barrier\n" + read, 128).text(),
            "");
}

TEST(StrictRaces, AReadOutstandingAtTheBarrierMeetsTheNextWrite) {
  const StrictRun r(places + "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v3, v2\ns_barrier\n"
                             "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)",
                    128);
  expect_race(r, "ds_write_b32", "ds_read_b32", "has read");
}

TEST(StrictRaces, LoadsToLdsMustBeWaitedForBeforeTheBarrier) {
  const std::string load =
      places + "v_and_b32 v3, 0xff, v1\ns_nop 0\nv_readfirstlane_b32 s8, v1\ns_nop 4\ns_mov_b32 m0, s8\ns_nop 0\n"
               "global_load_lds_dword v1, s[0:1]\n";
  const std::string read = "ds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)";
  expect_race(StrictRun(load + "s_barrier\n" + read, 128), "ds_read_b32", "global_load_lds_dword", "has written");
  EXPECT_EQ(StrictRun(load + "s_waitcnt vmcnt(0)\ns_barrier\n" + read, 128).count(FindingKind::race), 0u);
}

TEST(StrictRaces, DisjointPlacesAreNoRace) {
  EXPECT_EQ(StrictRun(places + "ds_write_b32 v1, v0\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)", 128).text(), "");
  EXPECT_EQ(StrictRun("ds_write_b8 v0, v0\nds_read_u8 v2, v0\ns_waitcnt lgkmcnt(0)", 128).text(), "");
}

TEST(StrictRaces, LdsAtomicsDoNotRaceWithEachOther) {
  const std::string text =
      "v_mov_b32 v3, 0\nv_mov_b32 v4, 1\nv_cmp_gt_u32 vcc, 64, v0\ns_cbranch_vccz meet\nds_write_b32 v3, v3\n"
      "s_waitcnt lgkmcnt(0)\nmeet: s_barrier\nds_add_u32 v3, v4\ns_waitcnt lgkmcnt(0)\n";
  EXPECT_EQ(StrictRun(text, 128).text(), "");
  EXPECT_EQ(StrictRun(text + "s_barrier\nds_read_b32 v5, v3\ns_waitcnt lgkmcnt(0)", 128).text(), "");
}

TEST(StrictRaces, FindsGlobalRacesInAWorkgroup) {
  const std::string store = places + "global_store_dword v1, v0, s[0:1]\n",
                    load = "global_load_dword v3, v2, s[0:1]\ns_waitcnt vmcnt(0)";
  expect_race(StrictRun(store + load, 128), "global_load_dword", "global_store_dword",
              "of `out`, which wave 0 has written");
  expect_race(StrictRun(store + "s_barrier\n" + load, 128), "global_load_dword", "global_store_dword", "`out`");
  EXPECT_EQ(StrictRun(store + "s_waitcnt vmcnt(0)\ns_barrier\n" + load, 128).text(), "");
}

TEST(StrictRaces, FindsGlobalRacesBetweenWorkgroups) {
  const StrictRun r("v_lshlrev_b32 v1, 2, v0\nglobal_store_dword v1, v0, s[0:1]", 64, isa::Processor::gfx942, 3);
  expect_race(r, "global_store_dword", "global_store_dword", "workgroup 0 wave 0");
  EXPECT_EQ(r.find(FindingKind::race)->count, 2u);
}

TEST(StrictRaces, WhatOneWritesAndAllReadNeedsAnOrder) {
  const StrictRun r("v_mov_b32 v1, 0\nglobal_load_dword v3, v1, s[0:1]\ns_cmp_lg_u32 s2, 2\ns_cbranch_scc1 done\n"
                    "global_store_dword v1, v0, s[0:1]\ndone:\ns_waitcnt vmcnt(0)",
                    64, isa::Processor::gfx942, 3);
  expect_race(r, "global_store_dword", "global_load_dword", "has read");
}

namespace {

/// Waves 0 to 3 read one place of LDS, one after the other. Those of `tell` say so, wave 3 waits for that and writes
/// it.
std::string four_readers(uint32_t tell) {
  return fmt::format(
      "v_lshrrev_b32 v1, 6, v0\nv_mov_b32 v2, 0\nv_mov_b32 v3, 1\nv_mov_b32 v4, 0\nv_readfirstlane_b32 s8, v1\n"
      "s_cmp_lg_u32 s8, 0\ns_cbranch_scc1 meet\nds_write_b32 v2, v3\nds_write_b32 v2, v4 offset:64\n"
      "s_waitcnt lgkmcnt(0)\nmeet: s_barrier\nds_read_b32 v5, v2\ns_waitcnt lgkmcnt(0)\n"
      "s_mov_b64 exec, 1\ns_lshr_b32 s9, {:#x}, s8\ns_bitcmp0_b32 s9, 0\ns_cbranch_scc1 quiet\n"
      "ds_add_u32 v2, v3 offset:64\nquiet: s_cmp_lg_u32 s8, 3\ns_cbranch_scc1 done\n"
      "wait: ds_add_rtn_u32 v6, v2, v4 offset:64\ns_waitcnt lgkmcnt(0)\nv_readfirstlane_b32 s10, v6\n"
      "s_cmp_lt_u32 s10, {}\ns_cbranch_scc1 wait\nds_write_b32 v2, v3\ndone: s_waitcnt lgkmcnt(0)",
      tell, std::popcount(tell));
}

} // namespace

TEST(StrictRaces, EveryOneOfManyReadersMustComeBeforeAWriter) {
  EXPECT_EQ(StrictRun(four_readers(7), 256).text(), "");
  for (const uint32_t silent : {0u, 1u, 2u}) {
    const StrictRun r(four_readers(7 & ~(1u << silent)), 256);
    expect_race(r, "ds_write_b32", "ds_read_b32", fmt::format("wave {} has read", silent));
  }
}

TEST(StrictRaces, ABarrierOrdersAllReaders) {
  const StrictRun r("v_mov_b32 v1, 0\nv_mov_b32 v2, 1\nv_lshrrev_b32 v3, 6, v0\ns_nop 0\nv_readfirstlane_b32 s8, v3\n"
                    "s_mov_b64 exec, 1\ns_cmp_lg_u32 s8, 2\ns_cbranch_scc1 first\nds_write_b32 v1, v2\n"
                    "s_waitcnt lgkmcnt(0)\nfirst: s_barrier\nds_read_b32 v4, v1\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
                    "s_cmp_lg_u32 s8, 1\ns_cbranch_scc1 second\nds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nsecond:",
                    256);
  EXPECT_EQ(r.text(), "");
}

namespace {

/// Workgroups 0 to 3 read a place; those of `tell` say so by a counter each, the last one waits for the counters of
/// `tell` and writes it.
std::string reading_workgroups(uint32_t tell) {
  std::string text = "v_mov_b32 v1, 0\nv_mov_b32 v2, 1\ns_mov_b64 exec, 1\ns_lshl_b32 s5, s2, 2\nv_mov_b32 v5, s5\n"
                     "s_cmp_eq_u32 s2, 4\ns_cbranch_scc1 last\nglobal_load_dword v3, v1, s[0:1] offset:64\n"
                     "s_waitcnt vmcnt(0)\nglobal_atomic_add v5, v2, s[0:1] sc1\ns_endpgm\nlast: s_sleep 1\n";
  for (uint32_t k = 0; k < 4; ++k)
    if (tell >> k & 1)
      text += fmt::format("wait{0}: s_sleep 1\nglobal_load_dword v4, v1, s[0:1] offset:{1} sc1\ns_waitcnt vmcnt(0)\n"
                          "v_readfirstlane_b32 s6, v4\ns_cmp_eq_u32 s6, 0\ns_cbranch_scc1 wait{0}\n",
                          k, 4 * k);
  return text + "buffer_inv sc1\nglobal_store_dword v1, v2, s[0:1] offset:64\ns_waitcnt vmcnt(0)";
}

} // namespace

TEST(StrictRaces, EveryReadingWorkgroupMustComeBeforeAWriter) {
  EXPECT_EQ(StrictRun(reading_workgroups(15), 64, isa::Processor::gfx942, 5).text(), "");
  for (uint32_t silent = 0; silent < 4; ++silent) {
    const StrictRun r(reading_workgroups(15 & ~(1u << silent)), 64, isa::Processor::gfx942, 5);
    expect_race(r, "global_store_dword", "global_load_dword", fmt::format("workgroup {} wave 0 has read", silent));
  }
}

TEST(StrictRaces, AWriterAmongManyWorkgroupsOfReadersIsSeen) {
  for (const uint32_t writer : {0u, 1u, 5u}) {
    const StrictRun r(fmt::format("v_mov_b32 v1, 0\nglobal_load_dword v3, v1, s[0:1]\ns_waitcnt vmcnt(0)\n"
                                  "s_cmp_lg_u32 s2, {}\ns_cbranch_scc1 done\nglobal_store_dword v1, v0, s[0:1]\n"
                                  "done:\ns_waitcnt vmcnt(0)",
                                  writer),
                      64, isa::Processor::gfx942, 6);
    EXPECT_GE(r.count(FindingKind::race), 1u) << "writer " << writer;
  }
}

TEST(StrictRaces, FindsRacesInTheGlobalDataShare) {
  const std::string base = "s_mov_b32 m0, 0x1000\nv_mov_b32 v1, 0\nv_mov_b32 v2, 1\ns_mov_b64 exec, 1\n";
  const StrictRun r(base + "ds_write_b32 v1, v2 gds\ns_waitcnt lgkmcnt(0) expcnt(0)", 64, isa::Processor::gfx908, 2);
  expect_race(r, "ds_write_b32", "ds_write_b32", "GDS at 0x0, which workgroup 0 wave 0 has written");
  EXPECT_EQ(
      StrictRun(base + "ds_add_u32 v1, v2 gds\ns_waitcnt lgkmcnt(0) expcnt(0)", 64, isa::Processor::gfx908, 2).text(),
      "");
  const std::string own = "s_lshl_b32 s8, s2, 20\ns_or_b32 m0, s8, 16\nv_mov_b32 v1, 0\nv_mov_b32 v2, 1\n"
                          "s_mov_b64 exec, 1\nds_write_b32 v1, v2 gds\ns_waitcnt lgkmcnt(0) expcnt(0)";
  EXPECT_EQ(StrictRun(own, 64, isa::Processor::gfx908, 2).text(), "");
}

TEST(StrictBounds, FindsAccessesBeyondTheWavesPartOfTheGlobalDataShare) {
  const StrictRun r("s_mov_b32 m0, 0x100010\nv_mov_b32 v1, 16\ns_nop 0\nds_read_b32 v2, v1 gds\ns_waitcnt lgkmcnt(0)",
                    64, isa::Processor::gfx908);
  ASSERT_EQ(r.count(FindingKind::out_of_bounds), 1u) << r.text();
  EXPECT_EQ(r.find(FindingKind::out_of_bounds)->message,
            "reads 4 bytes of GDS at 0x20, M0 gives the wave 0x10 from 0x10");
}

TEST(StrictRaces, ScalarScratchAccessesAreSeen) {
  const StrictRun r("v_mov_b32 v1, 0\ns_mov_b32 s9, 1\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc1 store\n"
                    "s_scratch_load_dword s8, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_endpgm\n"
                    "store: s_scratch_store_dword s9, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)",
                    64, isa::Processor::gfx908, 2);
  expect_race(r, "s_scratch_load_dword", "s_scratch_store_dword", "has written");
}

TEST(StrictRaces, ScalarLoadsAreSeenToo) {
  const StrictRun r(
      "v_mov_b32 v1, 0\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc1 store\ns_load_dword s8, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
      "s_endpgm\nstore: global_store_dword v1, v0, s[0:1]",
      64, isa::Processor::gfx942, 2);
  expect_race(r, "s_load_dword", "global_store_dword", "has written");
}

namespace {

/// Workgroup 0 writes data and then a flag, by `release`; the others wait for the flag, then `acquire`, and read.
std::string message_passing(const std::string& release, const std::string& acquire) {
  return "v_mov_b32 v1, 0\nv_mov_b32 v2, 1\ns_mov_b64 exec, 1\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 wait\n"
         "global_store_dword v1, v2, s[0:1] offset:64\n" +
         release +
         "global_atomic_add v1, v2, s[0:1] sc1\ns_endpgm\n"
         "wait: s_sleep 1\nglobal_load_dword v3, v1, s[0:1] sc1\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s6, v3\n"
         "s_cmp_eq_u32 s6, 0\ns_cbranch_scc1 wait\n" +
         acquire + "global_load_dword v4, v1, s[0:1] offset:64\ns_waitcnt vmcnt(0)";
}

} // namespace

TEST(StrictRaces, ReleaseAndAcquireOrderWorkgroups) {
  const StrictRun r(message_passing("s_waitcnt vmcnt(0)\n", "buffer_inv sc1\n"), 64, isa::Processor::gfx942, 3);
  EXPECT_EQ(r.result.status, Status::completed);
  EXPECT_EQ(r.text(), "");
}

TEST(StrictRaces, AReleaseWaitsForItsStores) {
  const StrictRun r(message_passing("", "buffer_inv sc1\n"), 64, isa::Processor::gfx942, 3);
  expect_race(r, "global_load_dword", "global_store_dword", "workgroup 0 wave 0 has written");
}

TEST(StrictRaces, AnAcquireInvalidatesTheCache) {
  const StrictRun r(message_passing("s_waitcnt vmcnt(0)\n", ""), 64, isa::Processor::gfx942, 3);
  expect_race(r, "global_load_dword", "global_store_dword", "workgroup 0 wave 0 has written");
}

TEST(StrictRaces, ATicketOrdersTheLastWorkgroupBehindAllOthers) {
  // Each stores, releases and takes a ticket; who gets the last one reads what all have stored.
  const std::string text =
      "v_mov_b32 v1, 0\nv_mov_b32 v2, 1\ns_mov_b64 exec, 1\ns_lshl_b32 s5, s2, 2\nv_mov_b32 v5, s5\n"
      "global_store_dword v5, v2, s[0:1] offset:64\ns_waitcnt vmcnt(0)\n"
      "global_atomic_add v3, v1, v2, s[0:1] sc0 sc1\ns_waitcnt vmcnt(0)\nbuffer_inv sc1\nv_readfirstlane_b32 s6, v3\n"
      "s_cmp_lg_u32 s6, 4\ns_cbranch_scc1 done\nglobal_load_dwordx4 v[8:11], v1, s[0:1] offset:64\n"
      "s_waitcnt vmcnt(0)\ndone:";
  EXPECT_EQ(StrictRun(text, 64, isa::Processor::gfx942, 5).count(FindingKind::race), 0u);
}

TEST(StrictBounds, FindsAccessesOfGuards) {
  const StrictRun r("v_mov_b32 v1, 0xeffe\nglobal_load_dword v2, v1, s[0:1]\ns_waitcnt vmcnt(0)");
  ASSERT_EQ(r.count(FindingKind::out_of_bounds), 1u) << r.text();
  EXPECT_EQ(r.find(FindingKind::out_of_bounds)->message, "reads 2 bytes past the end of `out`");
  EXPECT_EQ(r.find(FindingKind::out_of_bounds)->lane, 0);
}

TEST(StrictBounds, FindsLdsBeyondTheAllocation) {
  const StrictRun r("v_mov_b32 v1, 0x1000\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)");
  ASSERT_EQ(r.count(FindingKind::out_of_bounds), 1u) << r.text();
  EXPECT_EQ(r.find(FindingKind::out_of_bounds)->message, "writes 4 bytes of LDS at 0x1000, the workgroup has 0x1000");
}

TEST(StrictBounds, WhatAResourceLeavesOutIsNoFinding) {
  const StrictRun r(
      "v_lshlrev_b32 v1, 2, v0\ns_mov_b32 s8, s0\ns_mov_b32 s9, s1\ns_mov_b32 s10, 128\ns_mov_b32 s11, 0x20000\n"
      "buffer_load_dword v2, v1, s[8:11], 0 offen\ns_waitcnt vmcnt(0)");
  EXPECT_EQ(r.text(), "");
}

TEST(StrictAlignment, FindsDwordsAndAtomicsThatAreNotAligned) {
  const StrictRun r("v_mov_b32 v1, 6\nglobal_load_dwordx2 v[2:3], v1, s[0:1]\ns_waitcnt vmcnt(0)");
  ASSERT_EQ(r.count(FindingKind::misaligned), 1u) << r.text();
  EXPECT_NE(r.find(FindingKind::misaligned)->message.find("which is not a multiple of 4"), std::string::npos);
  EXPECT_EQ(StrictRun("v_mov_b32 v1, 4\nglobal_load_dwordx2 v[2:3], v1, s[0:1]\ns_waitcnt vmcnt(0)").text(), "");
  const StrictRun atomic("v_mov_b32 v1, 4\nv_mov_b32 v2, 0\nv_mov_b32 v3, 0\nglobal_atomic_add_x2 v1, v[2:3], s[0:1]");
  EXPECT_EQ(atomic.count(FindingKind::misaligned), 1u) << atomic.text();
}

TEST(Strict, ChangesNothing) {
  const std::string text = places + "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v3, v2\n"
                                    "s_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v3, s[0:1]";
  const StrictRun r(text, 128);
  TextRun plain(text);
  plain.dispatch.workgroup_size = {128, 1, 1};
  const RunResult result = plain.run();
  EXPECT_EQ(result.instructions, r.result.instructions);
  EXPECT_TRUE(std::ranges::equal(plain.out, r.out));
}
