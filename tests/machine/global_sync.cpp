// The global data share, synchronisation through it, and the instructions for divergent flow.
#include "wave_fixture.h"

using namespace asmevo;
using namespace asmevo::machine;

namespace {

/// Two waves: the first one writes 77 to LDS late and then executes `gives`; the second executes `takes` and reads.
uint32_t read_after_sync(const std::string& setup, const std::string& gives, const std::string& takes) {
  Program p(
      "s_getreg_b32 s0, hwreg(HW_REG_HW_ID)\ns_mov_b32 m0, 0\nv_mov_b32 v1, 1\nv_mov_b32 v2, 0\n" + setup +
          "\ns_barrier\ns_cmp_eq_u32 s0, 0\ns_cbranch_scc0 second\n" +
          [] {
            std::string nops;
            for (unsigned k = 0; k < 60; ++k) nops += "s_nop 0\n";
            return nops;
          }() +
          "v_mov_b32 v3, 77\nds_write_b32 v2, v3\n" + gives + "\ns_branch done\nsecond:\n" + takes +
          "\nds_read_b32 v4, v2\ndone:\n",
      isa::Processor::gfx908);
  p.start(128);
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::finished) << p.fault();
  p.note(); // the callers compare
  return p.wave(1).spaces[unsigned(RowSpace::vgpr)][4].lane[0];
}

} // namespace

TEST(GlobalSync, TheGlobalDataShareIsAnotherMemoryThanLds) {
  Program p("s_mov_b32 m0, 0x1000\nds_add_u32 v1, v2 gds\nds_add_rtn_u32 v3, v1, v2 gds\nds_read_b32 v4, "
            "v1\nds_read_b32 v5, v1 gds\n"
            "ds_append v6 offset:1024 gds\nds_append v7 offset:1024 gds",
            isa::Processor::gfx908);
  p.start();
  p.fill(1, [](unsigned i) { return 4 * i; });
  p.fill(2, [](unsigned i) { return i + 1; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(3).lane[9], 10u);
  EXPECT_EQ(p.v(4).lane[9], 0u);
  EXPECT_EQ(p.v(5).lane[9], 20u);
  EXPECT_EQ(p.v(6).lane[9], 0u);
  EXPECT_EQ(p.v(7).lane[9], 64u);
}

TEST(GlobalSync, M0BoundsTheGlobalDataShare) {
  Program p("s_mov_b32 m0, 0x01000080\nds_write_b32 v1, v2 gds\nds_read_b32 v3, v1 gds\ns_mov_b32 m0, "
            "0x1000\nds_read_b32 v4, v1 offset:256 gds",
            isa::Processor::gfx908);
  p.start();
  p.fill(1, [](unsigned i) { return 4 * i; });
  p.fill(2, [](unsigned i) { return i + 1; });
  p.run();
  EXPECT_EQ(p.v(3).lane[31], 32u);
  EXPECT_EQ(p.v(3).lane[32], 0u); // 128 bytes
  EXPECT_EQ(p.v(4).lane[31], 32u);
  EXPECT_EQ(p.v(4).lane[32], 0u);
}

TEST(GlobalSync, ABarrierHoldsWavesUntilTheLastOneComes) {
  const std::string barrier = "ds_gws_barrier v1 offset:2 gds";
  EXPECT_EQ(read_after_sync("ds_gws_init v1 offset:2 gds", barrier, barrier), 77u);
}

TEST(GlobalSync, SemaphoresHoldWavesUntilTheyAreRaised) {
  const std::string take = "ds_gws_sema_p offset:3 gds";
  EXPECT_EQ(read_after_sync("ds_gws_init v2 offset:3 gds", "ds_gws_sema_v offset:3 gds", take), 77u);
  EXPECT_EQ(read_after_sync("ds_gws_init v2 offset:3 gds", "ds_gws_sema_br v1 offset:3 gds", take), 77u);
  EXPECT_EQ(read_after_sync("ds_gws_init v2 offset:3 gds", "ds_gws_sema_release_all offset:3 gds", take), 77u);
  EXPECT_EQ(read_after_sync("ds_gws_init v1 offset:3 gds", "s_nop 0", take), 0u); // one pass was there from the start
}

TEST(GlobalSync, ForksRunBothPathsAndJoin) {
  // The path of fewer lanes first: either order gives the same.
  for (const char* mask : {"0xff", "0xffffff00"})
    for (const bool indirect : {false, true}) {
      const std::string fork =
          indirect ? "s_getpc_b64 s[42:43]\nhere:\ns_add_u32 s42, s42, taken-here\ns_addc_u32 s43, s43, 0\n"
                     "s_cbranch_g_fork s[40:41], s[42:43]\n"
                   : "s_cbranch_i_fork s[40:41], taken\n";
      Program p("s_mov_b32 s50, 0\ns_mov_b32 s41, 0\ns_mov_b32 s40, " + std::string(mask) + "\n" + fork +
                "v_mov_b32 v1, 1\nv_add_u32 v3, 1, v3\ns_branch joined\ntaken:\nv_mov_b32 v1, 2\nv_add_u32 v3, 1, "
                "v3\njoined:\ns_cbranch_join s50\n"
                "s_mov_b64 exec, -1\nv_mov_b32 v2, v1");
      p.start();
      p.run();
      ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
      const uint64_t lanes_taken = std::stoul(mask, nullptr, 16);
      for (unsigned i = 0; i < lanes; ++i) {
        ASSERT_EQ(p.v(2).lane[i], lanes_taken >> i & 1 ? 2u : 1u) << "lane " << i;
        ASSERT_EQ(p.v(3).lane[i], 1u) << "lane " << i;
      }
      p.note();
    }
}

TEST(GlobalSync, AForkThatAllLanesTakeIsABranch) {
  Program p("s_mov_b64 s[40:41], -1\ns_cbranch_i_fork s[40:41], taken\nv_mov_b32 v1, 1\ntaken:\ns_mov_b32 s50, "
            "0\ns_cbranch_join s50");
  p.start().run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(1).lane[0], 0u);
}

TEST(GlobalSync, AJoinWithoutAForkFaults) {
  Program p("s_mov_b32 s50, 1\ns_cbranch_join s50");
  p.start().run();
  EXPECT_EQ(p.end(), TurnEnd::fault);
  EXPECT_NE(p.fault().find("stack empty"), std::string::npos) << p.fault();
}

TEST(GlobalSync, KillEndsTheWave) {
  Program p("s_setkill 0\nv_mov_b32 v1, 1\ns_setkill 1\nv_mov_b32 v1, 2");
  p.start().run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(1).lane[0], 1u);
}
