// Strict mode: waits and wait states, on the path that a wave takes.
#include "strict_fixture.h"

using namespace asmevo;
using namespace asmevo::machine;

namespace {

const std::string address = "v_lshlrev_b32 v1, 2, v0\nv_and_b32 v1, 0xff, v1\n";

void expect_one(const StrictRun& r, FindingKind kind, std::string_view consumer, std::string_view producer,
                std::string_view text) {
  ASSERT_EQ(r.count(kind), 1u) << r.text();
  const Finding& f = *r.find(kind);
  EXPECT_EQ(r.mnemonic(f.instruction), consumer);
  EXPECT_EQ(r.mnemonic(f.cause), producer);
  EXPECT_NE(f.message.find(text), std::string::npos) << f.message;
}

} // namespace

TEST(StrictWaits, FindsAVectorLoadReadTooEarly) {
  const StrictRun r(address + "global_load_dword v2, v1, s[0:1]\nv_add_u32 v3, 1, v2");
  expect_one(r, FindingKind::missing_wait, "v_add_u32", "global_load_dword",
             "reads v2 before the load has finished: s_waitcnt vmcnt(0) is missing");
  EXPECT_EQ(r.result.strict.findings.size(), 1u) << r.text();
}

TEST(StrictWaits, IsContentWithAWaitThatSuffices) {
  const StrictRun r(address + "global_load_dword v2, v1, s[0:1]\nglobal_load_dword v3, v1, s[0:1]\n"
                              "s_waitcnt vmcnt(1)\nv_add_u32 v4, 1, v2\ns_waitcnt vmcnt(0)\nv_add_u32 v4, v4, v3");
  EXPECT_EQ(r.text(), "");
}

TEST(StrictWaits, SaysWhichCountIsMissing) {
  const StrictRun r(address + "global_load_dword v2, v1, s[0:1]\nglobal_load_dword v3, v1, s[0:1]\n"
                              "s_waitcnt vmcnt(2)\nv_add_u32 v4, 1, v2");
  expect_one(r, FindingKind::missing_wait, "v_add_u32", "global_load_dword", "s_waitcnt vmcnt(1) is missing");
}

TEST(StrictWaits, FindsAPendingResultThatIsOverwritten) {
  const StrictRun r(address + "global_load_dword v2, v1, s[0:1]\nv_mov_b32 v2, 0\ns_waitcnt vmcnt(0)");
  expect_one(r, FindingKind::missing_wait, "v_mov_b32", "global_load_dword", "overwrites v2");
}

TEST(StrictWaits, LoadsOfOneKindMayOverwriteEachOther) {
  const StrictRun r(address + "global_load_dword v2, v1, s[0:1]\nglobal_load_dword v2, v1, s[0:1]\ns_waitcnt vmcnt(0)");
  EXPECT_EQ(r.text(), "");
}

TEST(StrictWaits, ScalarLoadsNeedAWaitForZero) {
  const StrictRun r(
      "s_load_dword s8, s[0:1], 0x0\ns_load_dword s9, s[0:1], 0x0\ns_waitcnt lgkmcnt(1)\ns_add_u32 s10, s8, s8");
  expect_one(r, FindingKind::missing_wait, "s_add_u32", "s_load_dword",
             "scalar load has finished: s_waitcnt lgkmcnt(0)");
}

TEST(StrictWaits, FindsAnLdsReadUsedTooEarly) {
  const StrictRun r(address + "ds_write_b32 v1, v0\nds_read_b32 v2, v1\nv_mov_b32 v3, v2");
  expect_one(r, FindingKind::missing_wait, "v_mov_b32", "ds_read_b32", "lgkmcnt(0)");
}

TEST(StrictWaits, FlatNeedsBothCounters) {
  const StrictRun r(address + "v_mov_b32 v2, s0\nv_mov_b32 v3, s1\nflat_load_dword v4, v[2:3]\ns_waitcnt vmcnt(0)\n"
                              "v_mov_b32 v5, v4\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v6, v4");
  expect_one(r, FindingKind::missing_wait, "v_mov_b32", "flat_load_dword", "FLAT");
}

TEST(StrictWaits, TheLoopCarriedWaitIsMissedOnlyWhereTheLoopIsTaken) {
  const std::string text = "v_mov_b32 v2, 0\nagain:\nv_add_u32 v3, 1, v2\nglobal_load_dword v2, v1, s[0:1]\n"
                           "s_add_u32 s6, s6, 1\ns_cmp_lt_u32 s6, s7\ns_cbranch_scc1 again\ns_waitcnt vmcnt(0)";
  EXPECT_EQ(StrictRun(address + "s_mov_b32 s6, 0\ns_mov_b32 s7, 1\n" + text).text(), "");
  const StrictRun r(address + "s_mov_b32 s6, 0\ns_mov_b32 s7, 10\n" + text);
  expect_one(r, FindingKind::missing_wait, "v_add_u32", "global_load_dword", "vmcnt(0)");
  // Loads that nobody has waited for pile up: iteration n meets n of them.
  EXPECT_EQ(r.find(FindingKind::missing_wait)->count, 9u);
}

TEST(StrictWaits, AtomicsReturnLate) {
  const StrictRun r(address + "v_mov_b32 v3, 1\nglobal_atomic_add v2, v1, v3, s[0:1] sc0\nv_mov_b32 v4, v2");
  expect_one(r, FindingKind::missing_wait, "v_mov_b32", "global_atomic_add", "reads v2");
}

TEST(StrictWaits, ALoadToLdsIsThereAfterItsWait) {
  const std::string text = address + "s_mov_b32 m0, 0\ns_nop 0\nglobal_load_lds_dword v1, s[0:1]\n";
  const StrictRun r(text + "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)");
  expect_one(r, FindingKind::missing_wait, "ds_read_b32", "global_load_lds_dword",
             "before the load to LDS has finished");
  EXPECT_EQ(StrictRun(text + "s_waitcnt vmcnt(0)\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)").text(), "");
}

TEST(StrictWaits, AStoreMustNotOvertakeAWriteBack) {
  const StrictRun r(address + "buffer_wbl2 sc1\nglobal_store_dword v1, v0, s[0:1] sc1");
  expect_one(r, FindingKind::missing_wait, "global_store_dword", "buffer_wbl2", "write-back");
  EXPECT_EQ(StrictRun(address + "buffer_wbl2 sc1\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v0, s[0:1] sc1").text(),
            "");
}

TEST(StrictHazards, FindsMissingWaitStates) {
  const StrictRun r("v_mov_b32 v2, 1\nv_readfirstlane_b32 s5, v2");
  expect_one(r, FindingKind::hazard, "v_readfirstlane_b32", "v_mov_b32", "needs 1 wait states, has 0 (H006)");
  EXPECT_EQ(StrictRun("v_mov_b32 v2, 1\ns_nop 0\nv_readfirstlane_b32 s5, v2").text(), "");
}

TEST(StrictHazards, CountsWaitStatesOnThePathThatIsTaken) {
  // A matrix result is read 9 states later on one path (8 passes less), and at once on the other.
  const std::string body = "v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nv_mov_b32 v8, 0\nv_mov_b32 v9, 0\nv_mov_b32 v10, 0\n"
                           "v_mov_b32 v11, 0\ns_nop 1\nv_mfma_f32_16x16x16_f16 v[8:11], v[2:3], v[2:3], v[8:11]\n"
                           "s_cmp_eq_u32 s2, s6\ns_cbranch_scc1 read\ns_nop 15\nread: v_mov_b32 v4, v8";
  EXPECT_EQ(StrictRun("s_mov_b32 s6, 1\n" + body).count(FindingKind::hazard), 0u);
  const StrictRun r("s_mov_b32 s6, 0\n" + body);
  expect_one(r, FindingKind::hazard, "v_mov_b32", "v_mfma_f32_16x16x16_f16", "H021");
}

TEST(StrictHazards, FollowsCalls) {
  const StrictRun r("s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, 24\ns_addc_u32 s9, s9, 0\nv_mov_b32 v2, 1\n"
                    "s_swappc_b64 s[10:11], s[8:9]\ns_endpgm\nv_nop\nv_mov_b32_dpp v3, v2 quad_perm:[1,0,3,2] "
                    "row_mask:0xf bank_mask:0xf\n"
                    "s_setpc_b64 s[10:11]");
  EXPECT_EQ(r.result.status, Status::completed);
}

TEST(StrictHazards, AreCountedOncePerPair) {
  const StrictRun r("s_mov_b32 s6, 0\nagain: v_mov_b32 v2, 1\nv_readfirstlane_b32 s5, v2\ns_add_u32 s6, s6, 1\n"
                    "s_cmp_lt_u32 s6, 7\ns_cbranch_scc1 again",
                    128);
  ASSERT_EQ(r.result.strict.findings.size(), 1u) << r.text();
  EXPECT_EQ(r.result.strict.findings[0].count, 14u);
}

TEST(StrictWaits, AnIndexedRegisterMayBeOneThatIsOnItsWay) {
  const auto moved = [](uint32_t index) {
    return fmt::format("v_mov_b32 v1, 0\nv_mov_b32 v2, 0\nv_mov_b32 v6, 0\ns_mov_b32 s8, {}\n"
                       "global_load_dword v5, v1, s[0:1]\ns_set_gpr_idx_on s8, gpr_idx(SRC0)\nv_mov_b32 v3, v2\n"
                       "s_set_gpr_idx_off\ns_waitcnt vmcnt(0)",
                       index);
  };
  EXPECT_EQ(StrictRun(moved(4)).text(), "");
  const StrictRun r(moved(3));
  ASSERT_EQ(r.count(FindingKind::missing_wait), 1u) << r.text();
  const Finding& f = *r.find(FindingKind::missing_wait);
  EXPECT_EQ(r.mnemonic(f.instruction), "v_mov_b32");
  EXPECT_EQ(r.mnemonic(f.cause), "global_load_dword");
  EXPECT_NE(f.message.find("reads v5 before the load has finished"), std::string::npos) << f.message;
}
