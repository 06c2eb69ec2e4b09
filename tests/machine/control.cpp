#include "wave_fixture.h"

using namespace asmevo;
using namespace asmevo::machine;

TEST(Control, LoopsEndWhenTheirConditionFails) {
  Program p("s_mov_b32 s0, 10\ns_mov_b32 s1, 0\nloop:\ns_add_u32 s1, s1, s0\ns_sub_u32 s0, s0, 1\ns_cmp_lg_u32 s0, 0\n"
            "s_cbranch_scc1 loop");
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::finished);
  EXPECT_EQ(p.s(1), 55u);
  EXPECT_EQ(p.instructions(), 2u + 4 * 10 + 1);
}

TEST(Control, CallsReturnBehindTheCall) {
  Program p("s_getpc_b64 s[0:1]\ns_add_u32 s0, s0, 20\ns_addc_u32 s1, s1, 0\ns_swappc_b64 s[2:3], s[0:1]\n"
            "s_mov_b32 s8, 1\ns_endpgm\ns_mov_b32 s9, 2\ns_setpc_b64 s[2:3]");
  // s_getpc gives the address of the second instruction, 4; the function lies at 24.
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.s(8), 1u);
  EXPECT_EQ(p.s(9), 2u);
}

TEST(Control, JumpingOutOfTextIsAFault) {
  Program p("s_mov_b64 s[0:1], 0x1000\ns_setpc_b64 s[0:1]");
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::fault);
  EXPECT_NE(p.fault().find("where no instruction of .text begins"), std::string::npos) << p.fault();
}

TEST(Control, TrapsAreFaultsThatNameTheTrap) {
  Program p("s_trap 2");
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::fault);
  EXPECT_EQ(p.fault(), "s_trap 2");
  p.note();
}

TEST(Control, AHaltedWaveIsADeadlock) {
  Program p("s_sethalt 1");
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::deadlock);
}

TEST(Control, ModeFieldsAreReadAndWrittenByHardwareRegister) {
  Program p("s_getreg_b32 s0, hwreg(HW_REG_MODE)\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n"
            "s_getreg_b32 s1, hwreg(HW_REG_MODE, 4, 4)");
  p.run();
  EXPECT_EQ(p.s(0), 0xf0u | mode::dx10_clamp | mode::ieee);
  EXPECT_EQ(p.s(1), 0b1100u);
}

TEST(Control, GprIndexingMovesSourcesAndDestinations) {
  Program p("s_set_gpr_idx_on s0, gpr_idx(SRC0)\nv_mov_b32 v10, v4\ns_set_gpr_idx_off\n"
            "s_set_gpr_idx_on s0, gpr_idx(DST)\nv_mov_b32 v20, v1\ns_set_gpr_idx_off\nv_mov_b32 v11, v4");
  p.start();
  p.s(0) = 3;
  for (unsigned r = 1; r < 10; ++r) p.fill(r, [&](unsigned i) { return 100 * r + i; });
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(10).lane[5], 705u);
  EXPECT_EQ(p.v(23).lane[5], 105u);
  EXPECT_EQ(p.v(20).lane[5], 0u);
  EXPECT_EQ(p.v(11).lane[5], 405u);
}

TEST(Control, VskipSkipsVectorInstructionsOnly) {
  Program p("s_mov_b32 s0, 1\ns_setvskip s0, 0\nv_mov_b32 v1, 7\ns_mov_b32 s1, 7\ns_setvskip s0, 1\nv_mov_b32 v2, 7");
  p.run();
  EXPECT_EQ(p.v(1).lane[0], 0u);
  EXPECT_EQ(p.s(1), 7u);
  EXPECT_EQ(p.v(2).lane[0], 7u);
  p.note();
}

TEST(Control, TheClockAdvancesBetweenReads) {
  Program p("s_memtime s[0:1]\ns_memtime s[2:3]");
  p.run();
  EXPECT_LT(p.s64(0), p.s64(2));
}

TEST(Control, UnknownWordsFaultOnlyWhenTheyAreExecuted) {
  Program skipped("s_branch over\n.long 0xc4000000\nover:");
  skipped.run();
  EXPECT_EQ(skipped.end(), TurnEnd::finished) << skipped.fault();
  Program executed(".long 0xffffffff");
  executed.run();
  EXPECT_EQ(executed.end(), TurnEnd::fault);
  EXPECT_NE(executed.fault().find("0xffffffff"), std::string::npos) << executed.fault();
}

TEST(Control, RegistersBeyondTheAllocationReadV0AndAreNotWritten) {
  Program p("v_mov_b32 v1, v40\nv_mov_b32 v41, 5\nv_mov_b32 v2, v41");
  p.resources = {.vgprs = 8, .accum_offset = 8};
  p.start();
  p.fill(0, [](unsigned i) { return 1000 + i; });
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(1).lane[3], 1003u);
  EXPECT_EQ(p.v(2).lane[3], 1003u);
}
