// The late-load schedule: a result is there when a wait has forced it, and not before.
#include "text_run.h"

using namespace asmevo;
using namespace asmevo::machine;

namespace {

/// dword `index` of the buffer after `text` has run with late loads; dwords 0-63 hold 100 + their number before. v1 is
/// 4 times the lane.
TextRun late(const std::string& text, Schedule schedule = Schedule::late_loads) {
  TextRun r("v_lshlrev_b32 v1, 2, v0\n" + text);
  for (unsigned k = 0; k < 64; ++k) r.set_dword(k, 100 + k);
  r.options.schedule = schedule;
  EXPECT_EQ(r.run().status, Status::completed);
  return r;
}

const std::string store_v2 = "\nglobal_store_dword v1, v2, s[0:1] offset:256\n";

/// v2 is 7, until the lane's dword arrives.
const std::string flat_load_v2 = "v_mov_b32 v2, 7\nv_mov_b32 v5, s1\nv_add_co_u32 v4, vcc, s0, v1\n"
                                 "v_addc_co_u32 v5, vcc, 0, v5, vcc\nflat_load_dword v2, v[4:5]\n";

} // namespace

TEST(LateLoads, AVectorLoadArrivesWithItsWait) {
  const std::string text = "v_mov_b32 v2, 7\nglobal_load_dword v2, v1, s[0:1]\n";
  EXPECT_EQ(late(text + store_v2).dword(64), 7u);
  EXPECT_EQ(late(text + "s_waitcnt vmcnt(0)" + store_v2).dword(64 + 5), 105u);
  EXPECT_EQ(late(text + store_v2, Schedule::round_robin).dword(64 + 5), 105u);
}

TEST(LateLoads, AWaitForNLeavesTheLastNOutstanding) {
  const std::string loads = "v_mov_b32 v3, 7\nglobal_load_dword v2, v1, s[0:1]\nglobal_load_dword v3, v1, s[0:1]\n";
  TextRun r = late(loads + "s_waitcnt vmcnt(1)\nglobal_store_dword v1, v2, s[0:1] offset:256\n"
                           "global_store_dword v1, v3, s[0:1] offset:512\n");
  EXPECT_EQ(r.dword(64 + 3), 103u);
  EXPECT_EQ(r.dword(128 + 3), 7u);
}

TEST(LateLoads, StoresCountAmongTheOutstanding) {
  TextRun r = late("v_mov_b32 v2, 7\nglobal_load_dword v2, v1, s[0:1]\nglobal_store_dword v1, v0, s[0:1] offset:1024\n"
                   "s_waitcnt vmcnt(1)" +
                   store_v2);
  EXPECT_EQ(r.dword(64), 100u);
}

TEST(LateLoads, AResultOverwritesWhatWasWrittenWhileItWasOnItsWay) {
  TextRun r = late("global_load_dword v2, v1, s[0:1]\nv_mov_b32 v2, 9\ns_waitcnt vmcnt(0)" + store_v2);
  EXPECT_EQ(r.dword(64 + 1), 101u);
}

TEST(LateLoads, ScalarLoadsArriveWithAWaitForZeroOnly) {
  const std::string text = "s_mov_b32 s8, 3\ns_load_dword s8, s[0:1], 0x8\n";
  const std::string store = "\nv_mov_b32 v2, s8" + store_v2;
  EXPECT_EQ(late(text + "s_waitcnt lgkmcnt(1)" + store).dword(64), 3u);
  EXPECT_EQ(late(text + "s_waitcnt lgkmcnt(0)" + store).dword(64), 102u);
}

TEST(LateLoads, LdsReadsArriveInOrder) {
  const std::string text = "v_mov_b32 v4, 11\nds_write_b32 v1, v4\nds_read_b32 v2, v1\nds_read_b32 v3, v1\n";
  TextRun r = late(text + "s_waitcnt lgkmcnt(1)" + store_v2 + "global_store_dword v1, v3, s[0:1] offset:512");
  EXPECT_EQ(r.dword(64), 11u);
  EXPECT_EQ(r.dword(128), 0u);
}

TEST(LateLoads, OnlyActiveLanesAndTheLoadedHalfAreWrittenLate) {
  TextRun r = late("v_mov_b32 v2, -1\ns_mov_b64 exec, 1\nglobal_load_short_d16_hi v2, v1, s[0:1]\ns_mov_b64 exec, -1\n"
                   "v_mov_b32 v2, 5\ns_waitcnt vmcnt(0)" +
                   store_v2);
  EXPECT_EQ(r.dword(64), 100u << 16 | 5);
  EXPECT_EQ(r.dword(65), 5u);
}

TEST(LateLoads, AtomicsChangeMemoryAtOnceAndReturnLate) {
  TextRun r = late("v_mov_b32 v2, 7\nv_mov_b32 v3, 1\nglobal_atomic_add v2, v1, v3, s[0:1] sc0" + store_v2);
  EXPECT_EQ(r.dword(0), 101u);
  EXPECT_EQ(r.dword(64), 7u);
}

TEST(LateLoads, LoadsToLdsArriveLate) {
  const std::string text = "v_mov_b32 v4, 11\nds_write_b32 v1, v4\ns_waitcnt lgkmcnt(0)\ns_mov_b32 m0, 0\n"
                           "global_load_lds_dword v1, s[0:1]\n";
  const std::string read = "\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)" + store_v2;
  EXPECT_EQ(late(text + read).dword(64 + 2), 11u);
  EXPECT_EQ(late(text + "s_waitcnt vmcnt(0)" + read).dword(64 + 2), 102u);
}

TEST(LateLoads, AFullCounterForcesTheOldest) {
  std::string text = "v_mov_b32 v2, 7\nglobal_load_dword v2, v1, s[0:1]\n";
  for (int k = 0; k < 63; ++k) text += "global_store_dword v1, v0, s[0:1] offset:1024\n";
  EXPECT_EQ(late(text + store_v2).dword(64), 100u);
}

TEST(LateLoads, AFlatLoadArrivesWhenBothCountersHaveBeenZero) {
  EXPECT_EQ(late(flat_load_v2 + "s_waitcnt vmcnt(0)" + store_v2).dword(64 + 5), 7u);
  EXPECT_EQ(late(flat_load_v2 + "s_waitcnt lgkmcnt(0)" + store_v2).dword(64 + 5), 7u);
  EXPECT_EQ(late(flat_load_v2 + "s_waitcnt vmcnt(0) lgkmcnt(0)" + store_v2).dword(64 + 5), 105u);
  const std::string between = "\nflat_load_dword v6, v[4:5]\n";
  EXPECT_EQ(late(flat_load_v2 + "s_waitcnt vmcnt(0)" + between + "s_waitcnt lgkmcnt(0)" + store_v2).dword(64 + 5),
            105u);
}

// FLAT operations may finish out of order with each other, so a counter that is full of them says that one has
// finished, and not which. LLVM 22 relies on the oldest (docs/testing.md); of LDS operations it is.
TEST(LateLoads, ACounterFullOfFlatLoadsForcesNoneOfThem) {
  std::string text = flat_load_v2 + "s_waitcnt vmcnt(0)\n";
  for (int k = 0; k < 20; ++k) text += "flat_load_dword v6, v[4:5]\ns_waitcnt vmcnt(0)\n";
  EXPECT_EQ(late(text + store_v2).dword(64 + 5), 7u);
  EXPECT_EQ(late(text + "s_waitcnt lgkmcnt(0)" + store_v2).dword(64 + 5), 105u);

  std::string lds = "v_mov_b32 v2, 7\nv_mov_b32 v4, 11\nds_write_b32 v1, v4\nds_read_b32 v2, v1\n";
  for (int k = 0; k < 15; ++k) lds += "ds_read_b32 v6, v1\n";
  EXPECT_EQ(late(lds + store_v2).dword(64), 11u);
}

TEST(LateLoads, AnyNumberOfThreadsGivesTheSame) {
  for (unsigned threads : {1u, 4u}) {
    TextRun r("v_lshlrev_b32 v1, 2, v0\ns_lshl_b32 s5, s2, 8\nv_mov_b32 v2, s2\ns_mov_b32 s10, 0\n"
              "again: s_add_u32 s10, s10, 1\ns_cmp_lt_u32 s10, 2000\ns_cbranch_scc1 again\n"
              "v_add_u32 v1, s5, v1\nglobal_load_dword v2, v1, s[0:1]\nv_add_u32 v2, 1, v2\n"
              "global_store_dword v1, v2, s[0:1]");
    r.options.schedule = Schedule::late_loads;
    r.options.threads = threads;
    r.dispatch.workgroups = {40, 1, 1};
    ASSERT_EQ(r.run().status, Status::completed);
    for (unsigned k = 0; k < 40; ++k) ASSERT_EQ(r.dword(64 * k), k + 1) << threads;
  }
}
