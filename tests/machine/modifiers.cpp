// Modifiers on instructions that are not arithmetic but take them all the same.
#include "wave_fixture.h"

using namespace asmevo;
using namespace asmevo::machine;

TEST(Modifiers, NegAndAbsApplyToSelectedValues) {
  Program p("s_mov_b64 vcc, 0xffff\nv_cndmask_b32_e64 v3, v1, -v2, vcc\nv_cndmask_b32_e64 v4, |v1|, -|v2|, vcc\n"
            "v_cndmask_b32_sdwa v5, -v1, v2, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD");
  p.start();
  p.fill(1, [](unsigned i) { return 0x80000000u | i; });
  p.fill(2, [](unsigned i) { return 0x700u + i; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(3).lane[3], 0x80000703u);
  EXPECT_EQ(p.v(3).lane[20], 0x80000014u);
  EXPECT_EQ(p.v(4).lane[3], 0x80000703u);
  EXPECT_EQ(p.v(4).lane[20], 0x14u);
  EXPECT_EQ(p.v(5).lane[20], 0x14u);
}
