#include "wave_fixture.h"

using namespace asmevo;
using namespace asmevo::machine;

namespace {
auto times4 = [](unsigned i) { return 4 * i; };
} // namespace

TEST(Lds, WritesComeBackInEveryWidth) {
  Program p("ds_write_b128 v1, v[4:7]\nds_read_b128 v[8:11], v1\nds_read_b64 v[12:13], v1 offset:8\n"
            "ds_read_b32 v14, v1 offset:4\nds_read_u16 v15, v1 offset:2\nds_read_i8 v16, v1 offset:3\n"
            "ds_read_b96 v[20:22], v1 offset:4");
  p.start();
  p.fill(1, [](unsigned i) { return 16 * i; });
  for (unsigned r = 0; r < 4; ++r) p.fill(4 + r, [&](unsigned i) { return 0xf0000000 + 0x10000 * r + i; });
  p.run();
  for (unsigned i : {0u, 17u, 63u}) {
    for (unsigned r = 0; r < 4; ++r) EXPECT_EQ(p.v(8 + r).lane[i], p.v(4 + r).lane[i]);
    EXPECT_EQ(p.v(12).lane[i], p.v(6).lane[i]);
    EXPECT_EQ(p.v(13).lane[i], p.v(7).lane[i]);
    EXPECT_EQ(p.v(14).lane[i], p.v(5).lane[i]);
    EXPECT_EQ(p.v(15).lane[i], 0xf000u);
    EXPECT_EQ(p.v(16).lane[i], 0xfffffff0u);
    EXPECT_EQ(p.v(22).lane[i], p.v(7).lane[i]);
  }
}

TEST(Lds, TwoAddressFormsScaleTheirOffsets) {
  Program p(
      "ds_write2_b32 v1, v2, v3 offset0:1 offset1:64\nds_read2_b32 v[4:5], v1 offset0:64 offset1:1\n"
      "ds_write2st64_b64 v6, v[2:3], v[4:5] offset0:1 offset1:2\nds_read2st64_b64 v[8:11], v6 offset0:2 offset1:1");
  p.start();
  p.fill(1, times4);
  p.fill(6, [](unsigned i) { return 8 * i; });
  p.fill(2, [](unsigned i) { return 100 + i; });
  p.fill(3, [](unsigned i) { return 200 + i; });
  p.run();
  EXPECT_EQ(p.v(4).lane[9], 209u);
  EXPECT_EQ(p.v(5).lane[9], 109u);
  EXPECT_EQ(p.v(8).lane[9], 209u);
  EXPECT_EQ(p.v(9).lane[9], 109u);
  EXPECT_EQ(p.v(10).lane[9], 109u);
  EXPECT_EQ(p.v(11).lane[9], 209u);
}

TEST(Lds, BeyondTheAllocationReadsZeroAndDropsWrites) {
  Program p("ds_write_b32 v1, v2\nds_read_b32 v3, v1\nds_read_b64 v[4:5], v6");
  p.resources.lds_bytes = 100; // the granule is 512 bytes
  p.start();
  p.fill(1, [](unsigned i) { return 508 + 4 * i; });
  p.fill(2, [](unsigned i) { return i + 1; });
  p.fill(3, [](unsigned) { return 9; });
  p.fill(6, [](unsigned) { return 508; });
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(3).lane[0], 1u);
  EXPECT_EQ(p.v(3).lane[1], 0u);
  EXPECT_EQ(p.v(4).lane[0], 0u);
}

TEST(Lds, InactiveLanesKeepRegistersAndMemory) {
  Program p("s_mov_b64 exec, 0xff\nds_write_b32 v1, v2\nds_read_b32 v3, v1");
  p.start();
  p.fill(1, times4);
  p.fill(2, [](unsigned i) { return i + 1; });
  p.fill(3, [](unsigned) { return 9; });
  p.run();
  EXPECT_EQ(p.v(3).lane[7], 8u);
  EXPECT_EQ(p.v(3).lane[8], 9u);
  EXPECT_EQ(p.lds<uint32_t>(32), 0u);
}

TEST(Lds, AtomicsAddUpOverLanesAndReturnOldValues) {
  Program p(
      "ds_add_u32 v1, v2\nds_add_rtn_u32 v3, v1, v2\nds_max_rtn_i32 v4, v1, v5 offset:4\n"
      "ds_cmpst_rtn_b32 v6, v1, v7, v8 offset:8\nds_add_f32 v1, v9 offset:12\nds_inc_rtn_u32 v10, v1, v11 offset:16");
  p.start();
  p.fill(1, [](unsigned) { return 0; });
  p.fill(2, [](unsigned i) { return i; });
  p.fill(5, [](unsigned i) { return int(i) - 32; });
  p.fill(7, [](unsigned i) { return i; });     // expected
  p.fill(8, [](unsigned i) { return i + 1; }); // new
  p.fill(9, [](unsigned) { return 0x3f000000; });
  p.fill(11, [](unsigned) { return 2; });
  p.run();
  EXPECT_EQ(p.lds<uint32_t>(0), 2u * 2016);
  EXPECT_EQ(p.v(3).lane[0], 2016u);
  EXPECT_EQ(p.v(3).lane[3], 2016u + 0 + 1 + 2);
  EXPECT_EQ(p.lds<uint32_t>(4), 31u);
  EXPECT_EQ(p.v(4).lane[0], 0u);
  EXPECT_EQ(p.lds<uint32_t>(8), 64u);
  EXPECT_EQ(p.v(6).lane[63], 63u);
  EXPECT_EQ(p.lds<float>(12), 32.0f);
  EXPECT_EQ(p.v(10).lane[3], 0u); // 0 1 2 0 1 2 ...
  EXPECT_EQ(p.v(10).lane[5], 2u);
}

TEST(Lds, HalfLoadsKeepTheOtherHalf) {
  Program p("ds_write_b32 v1, v2\nds_read_u16_d16 v3, v1\nds_read_u16_d16_hi v4, v1 offset:2\nds_read_i8_d16 v5, v1\n"
            "ds_write_b16_d16_hi v1, v2 offset:8\nds_read_u16 v6, v1 offset:8");
  p.start();
  p.fill(1, [](unsigned i) { return 16 * i; });
  p.fill(2, [](unsigned) { return 0x1234aa99; });
  for (unsigned r : {3u, 4u, 5u}) p.fill(r, [](unsigned) { return 0x77778888; });
  p.run();
  EXPECT_EQ(p.v(3).lane[1], 0x7777aa99u);
  EXPECT_EQ(p.v(4).lane[1], 0x12348888u);
  EXPECT_EQ(p.v(5).lane[1], 0x7777ff99u);
  EXPECT_EQ(p.v(6).lane[1], 0x1234u);
}
