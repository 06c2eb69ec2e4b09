#include "buffers_fixture.h"

using namespace asmevo;
using namespace asmevo::machine;

namespace {

auto times(uint32_t factor) {
  return [=](unsigned i) { return factor * i; };
}

} // namespace

TEST(Global, LoadsAndStoresEveryWidth) {
  Buffers p("global_load_dwordx4 v[4:7], v1, s[4:5]\nglobal_store_dwordx4 v1, v[4:7], s[6:7]\n"
            "global_load_dwordx3 v[8:10], v1, s[4:5] offset:4\nglobal_load_dwordx2 v[12:13], v1, s[4:5] offset:8\n"
            "global_load_ushort v14, v1, s[4:5]\nglobal_load_sbyte v15, v1, s[4:5] offset:1\nglobal_load_dword v16, "
            "v1, s[4:5] offset:12");
  p.begin();
  p.fill(1, times(16));
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  for (unsigned i : {0u, 1u, 33u, 63u}) {
    for (unsigned k = 0; k < 4; ++k) {
      EXPECT_EQ(p.v(4 + k).lane[i], 0x1000 + 4 * i + k);
      EXPECT_EQ(p.dword(16 * i + 4 * k), 0x1000 + 4 * i + k);
    }
    EXPECT_EQ(p.v(10).lane[i], 0x1000 + 4 * i + 3);
    EXPECT_EQ(p.v(12).lane[i], 0x1000 + 4 * i + 2);
    EXPECT_EQ(p.v(14).lane[i], 0x1000 + 4 * i);
    EXPECT_EQ(p.v(15).lane[i], 0x10u);
    EXPECT_EQ(p.v(16).lane[i], 0x1000 + 4 * i + 3);
  }
}

TEST(Global, VectorAddressesTakeSignedOffsets) {
  Buffers p("global_load_dword v4, v[2:3], off offset:-8\nglobal_store_dword v[6:7], v4, off offset:8");
  p.begin();
  p.fill(2, [](unsigned i) { return uint32_t(in_base + 8 + 4 * i); });
  p.fill(3, [](unsigned) { return uint32_t(in_base >> 32); });
  p.fill(6, [](unsigned i) { return uint32_t(out_base + 4 * i); });
  p.fill(7, [](unsigned) { return uint32_t(out_base >> 32); });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.dword(8 + 4 * 5), 0x1005u);
}

TEST(Global, InactiveLanesAreNotTouched) {
  Buffers p("s_mov_b64 exec, 0xf0\nglobal_load_dwordx2 v[4:5], v1, s[4:5]\nglobal_store_dwordx2 v1, v[4:5], s[6:7]");
  p.begin();
  p.fill(1, [](unsigned i) { return i < 8 ? 8 * i : 0xffffff00; });
  p.fill(4, [](unsigned) { return 7; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(4).lane[5], 0x100au);
  EXPECT_EQ(p.v(4).lane[8], 7u);
  EXPECT_EQ(p.dword(8 * 5), 0x100au);
  EXPECT_EQ(p.dword(8 * 3), 0u);
}

TEST(Global, AccessOutsideABufferFaultsWithItsNearestBuffer) {
  Buffers p("global_store_dword v1, v2, s[6:7] offset:4");
  p.begin();
  p.fill(1, times(4096 / 64));
  p.fill(1, [](unsigned i) { return 4 * i + 4096 - 256; });
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::fault);
  EXPECT_EQ(p.fault(), "global_store_dword writes 4 bytes past the end of `out`");
}

TEST(Global, ReadOnlyBuffersRefuseStores) {
  Buffers p("global_store_byte v1, v2, s[4:5]");
  p.begin();
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::fault);
  EXPECT_EQ(p.fault(), "global_store_byte writes 1 byte at +0x0 of `in`, which is read-only");
}

TEST(Global, LanesMayReachDifferentBuffers) {
  Buffers p("global_load_dword v4, v[2:3], off");
  p.begin();
  const uint32_t mark = 0xabcdef;
  std::memcpy(p.out.data() + 4, &mark, 4);
  p.fill(2, [](unsigned i) { return uint32_t(i % 2 ? out_base + 4 : in_base + 4 * i); });
  p.fill(3, [](unsigned) { return uint32_t(in_base >> 32); });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(4).lane[6], 0x1006u);
  EXPECT_EQ(p.v(4).lane[7], mark);
}

TEST(Global, LaterLanesWinWhereStoresOverlap) {
  Buffers p("global_store_dwordx4 v1, v[4:7], s[6:7]\nglobal_store_dword v1, v4, s[6:7] offset:512");
  p.begin();
  p.fill(1, [](unsigned) { return 0; });
  p.fill(4, times(1));
  p.run();
  EXPECT_EQ(p.dword(0), 63u);
  EXPECT_EQ(p.dword(512), 63u);
}

TEST(Global, AtomicsReturnWhatWasThere) {
  Buffers p(
      "global_atomic_add v4, v1, v2, s[6:7] sc0\nglobal_atomic_add v1, v2, s[6:7]\n"
      "global_atomic_cmpswap v5, v1, v[6:7], s[6:7] offset:64 sc0\nglobal_atomic_add_f32 v1, v8, s[6:7] offset:128\n"
      "global_atomic_umax_x2 v1, v[6:7], s[6:7] offset:192\nglobal_atomic_pk_add_f16 v1, v9, s[6:7] offset:256\n"
      "global_atomic_add_f64 v1, v[10:11], s[6:7] offset:320");
  p.begin();
  p.fill(1, [](unsigned) { return 0; });
  p.fill(2, [](unsigned i) { return i; });
  p.fill(6, [](unsigned i) { return i + 1; }); // to write
  p.fill(7, [](unsigned i) { return i; });     // to expect
  p.fill(8, [](unsigned) { return 0x3f800000; });
  p.fill(9, [](unsigned) { return 0x3c004000; });
  p.fill(11, [](unsigned) { return 0x3ff00000; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.dword(0), 2 * 2016u);
  EXPECT_EQ(p.v(4).lane[4], 6u);
  EXPECT_EQ(p.dword(64), 64u);
  EXPECT_EQ(p.v(5).lane[9], 9u);
  EXPECT_EQ(p.dword(128), 0x42800000u); // 64.0f
  EXPECT_EQ(p.dword(196), 63u);
  EXPECT_EQ(p.dword(256), 0x54005800u); // 64 and 128 in halves
  EXPECT_EQ(p.dword(324), 0x40500000u); // 64.0
}

TEST(Global, LoadsToLdsLandLaneAfterLaneAtM0) {
  Buffers p("s_mov_b32 m0, 0x200\nglobal_load_lds_dword v1, s[4:5] offset:16");
  p.begin();
  p.fill(1, [](unsigned i) { return 4 * (63 - i); });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.lds<uint32_t>(0x200 + 16), 0x1004u + 63);
  EXPECT_EQ(p.lds<uint32_t>(0x200 + 16 + 4 * 63), 0x1004u);
}

TEST(Flat, AperturesLeadToLdsAndPrivateMemory) {
  Buffers p(
      "s_mov_b64 s[20:21], src_shared_base\nv_mov_b32 v3, s21\nv_mov_b32 v2, v1\nflat_store_dword v[2:3], v4\n"
      "s_mov_b64 s[22:23], src_private_base\nv_mov_b32 v5, s23\nflat_store_dword v[6:7], v4\n"
      "v_mov_b32 v9, s23\nv_mov_b32 v8, 8\nflat_store_dword v[8:9], v4\nscratch_load_dword v10, off, off offset:8\n"
      "ds_read_b32 v11, v1\nflat_load_dword v12, v[8:9]");
  p.resources.scratch_bytes = 64;
  p.begin();
  p.fill(1, times(4));
  p.fill(4, [](unsigned i) { return 500 + i; });
  p.fill(6, [](unsigned i) { return uint32_t(out_base + 4 * i); });
  p.fill(7, [](unsigned) { return uint32_t(out_base >> 32); });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(11).lane[7], 507u);
  EXPECT_EQ(p.dword(4 * 7), 507u);
  EXPECT_EQ(p.v(10).lane[7], 507u);
  EXPECT_EQ(p.v(12).lane[9], 509u);
}

TEST(Scratch, LanesHaveTheirOwnBytesAtTheSameOffset) {
  Program p("scratch_store_dwordx2 off, v[2:3], s0 offset:4\nscratch_store_byte v1, v2, off offset:1\n"
            "scratch_load_dword v4, off, s0 offset:8\nscratch_load_ubyte v5, v1, off offset:1\nscratch_load_dword v6, "
            "v1, off");
  p.resources.scratch_bytes = 32;
  p.start();
  p.s(0) = 4;
  p.fill(1, [](unsigned i) { return i % 2 ? 16 : 20; });
  p.fill(2, [](unsigned i) { return i + 1; });
  p.fill(3, [](unsigned i) { return i + 100; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(4).lane[5], 105u);
  EXPECT_EQ(p.v(5).lane[5], 6u);
  EXPECT_EQ(p.v(6).lane[5], 6u << 8);
  EXPECT_EQ(p.v(6).lane[6], 7u << 8);
}

TEST(Scratch, OffsetsBeyondTheKernelsShareFault) {
  Program p("scratch_store_dword off, v2, s0");
  p.resources.scratch_bytes = 32;
  p.start();
  p.s(0) = 32;
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::fault);
  EXPECT_NE(p.fault().find("scratch offset 0x20"), std::string::npos) << p.fault();
}

TEST(Buffer, RangeChecksAreByteExactForEachComponent) {
  Buffers p("buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen\nbuffer_store_dwordx4 v[4:7], v1, s[12:15], 0 offen");
  p.begin();
  p.s(10) = 1022, p.s(14) = 24; // bytes
  p.fill(1, times(16));
  for (unsigned r = 4; r < 8; ++r) p.fill(r, [](unsigned) { return 9; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(7).lane[62], 0x1000u + 62 * 4 + 3);
  EXPECT_EQ(p.v(6).lane[63], 0x1000u + 63 * 4 + 2);
  EXPECT_EQ(p.v(7).lane[63], 0u); // bytes 1020-1023: two of them are outside
  EXPECT_EQ(p.dword(20), 0x1005u);
  EXPECT_EQ(p.dword(24), 0u);
}

TEST(Buffer, StrideFieldDoesNotMatterWithoutSwizzle) {
  Buffers p("buffer_load_dword v4, v1, s[8:11], 0 offen");
  p.begin();
  p.s(9) |= 64u << 16;
  p.s(10) = 128;
  p.fill(1, times(4));
  p.run();
  EXPECT_EQ(p.v(4).lane[31], 0x1000u + 31);
  EXPECT_EQ(p.v(4).lane[32], 0u);
}

TEST(Buffer, IndicesAreScaledByTheStrideAndSoffsetIsAdded) {
  Buffers p("s_mov_b32 s20, 32\nbuffer_load_dword v4, v[2:3], s[8:11], s20 idxen offen offset:4\n"
            "buffer_load_dword v5, v2, s[8:11], 0 idxen");
  p.begin();
  p.s(9) |= 16u << 16;
  p.fill(2, times(1));
  p.fill(3, [](unsigned) { return 8; });
  p.run();
  EXPECT_EQ(p.v(4).lane[3], 0x1000u + (3 * 16 + 8 + 4 + 32) / 4);
  EXPECT_EQ(p.v(5).lane[3], 0x1000u + 3 * 4);
}

TEST(Buffer, SwizzledBuffersInterleaveElements) {
  Buffers p("buffer_load_dword v4, v[2:3], s[8:11], 0 idxen offen");
  p.begin();
  p.s(9) |= 8u << 16 | 1u << 31; // stride 8, swizzled
  p.s(10) = 20;                  // records
  p.s(11) = 0x20000 | 0u << 21;  // index stride 8
  p.fill(2, times(1));
  p.fill(3, [](unsigned) { return 4; });
  p.run();
  // Index n, offset 4: block n / 8 of 64 bytes, second half, element n % 8.
  EXPECT_EQ(p.v(4).lane[3], 0x1000u + (32 + 3 * 4) / 4);
  EXPECT_EQ(p.v(4).lane[19], 0x1000u + (2 * 64 + 32 + 3 * 4) / 4);
  EXPECT_EQ(p.v(4).lane[20], 0u);
}

// How compiled code reads and writes private memory that it knows no alignment of.
TEST(Buffer, UnalignedAccessesFollowTheSwizzleByteByByte) {
  Buffers p("buffer_load_dwordx2 v[4:5], v[2:3], s[8:11], 0 idxen offen\n"
            "buffer_load_ushort v6, v[2:3], s[8:11], 0 idxen offen offset:1\n"
            "buffer_store_dword v7, v[2:3], s[12:15], 0 idxen offen\n"
            "buffer_store_short v7, v[2:3], s[12:15], 0 idxen offen offset:5");
  p.begin();
  for (unsigned v : {8u, 12u}) {
    p.s(v + 1) |= 16u << 16 | 1u << 31; // stride 16, swizzled
    p.s(v + 2) = 16;                    // records
    p.s(v + 3) = 0x20000 | 0u << 21;    // index stride 8
  }
  p.fill(2, times(1));
  p.fill(3, [](unsigned) { return 2; });
  p.fill(7, [](unsigned i) { return 0xa1b2c300 + i; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  // Element e of index n is dword n / 8 * 32 + e * 8 + n % 8, here for index 11.
  const auto element = [](uint32_t e) { return 1 * 32 + e * 8 + 3; };
  const auto in = [&](uint32_t e) { return 0x1000u + element(e); };
  EXPECT_EQ(p.v(4).lane[11], in(0) >> 16 | in(1) << 16);
  EXPECT_EQ(p.v(5).lane[11], in(1) >> 16 | in(2) << 16);
  EXPECT_EQ(p.v(6).lane[11], in(0) >> 24 | (in(1) & 0xff) << 8);
  EXPECT_EQ(p.dword(4 * element(0)) >> 16, 0xc30bu);
  EXPECT_EQ(p.dword(4 * element(1)) & 0xffff, 0xa1b2u);
  EXPECT_EQ(p.dword(4 * element(1)) >> 24, 0x0bu); // offset 7, across the elements
  EXPECT_EQ(p.dword(4 * element(2)) & 0xff, 0xc3u);
}

TEST(Buffer, LoadsToLdsAddTheOffsetOnBothSides) {
  Buffers p("s_mov_b32 m0, 0xabcd0100\nbuffer_load_dword v1, s[8:11], 0 offen offset:8 lds"); // 16 bits of M0 count
  p.begin();
  p.s(10) = 200;
  p.fill(1, times(4));
  p.run();
  EXPECT_EQ(p.lds<uint32_t>(0x108 + 4 * 5), 0x1000u + 2 + 5);
  EXPECT_EQ(p.lds<uint32_t>(0x108 + 4 * 60), 0u);
}

TEST(Buffer, HalvesAndAtomics) {
  Buffers p("buffer_load_short_d16_hi v4, v1, s[8:11], 0 offen\nbuffer_atomic_add v5, v6, s[12:15], 0 offen sc0\n"
            "buffer_atomic_smin v7, v8, s[12:15], 0 offen offset:256\nbuffer_store_short_d16_hi v4, v1, s[12:15], 0 "
            "offen offset:512");
  p.begin();
  p.fill(1, times(4));
  p.fill(4, [](unsigned) { return 0x77; });
  p.fill(5, [](unsigned i) { return i; });
  p.fill(6, [](unsigned) { return 0; });
  p.fill(7, [](unsigned i) { return uint32_t(-int(i)); });
  p.fill(8, [](unsigned) { return 0; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(4).lane[2], 0x10020077u);
  EXPECT_EQ(p.v(5).lane[3], 3u); // 0 + 1 + 2
  EXPECT_EQ(p.dword(0), 2016u);
  EXPECT_EQ(p.dword(256), uint32_t(-63));
  EXPECT_EQ(p.dword(512 + 8) & 0xffff, 0x1002u);
}

TEST(Buffer, TypedLoadsConvertComponents) {
  Buffers p(
      "tbuffer_load_format_xyzw v[4:7], v1, s[12:15], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM] offen\n"
      "tbuffer_load_format_x v8, v1, s[12:15], 0 format:[BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_SINT] offen\n"
      "tbuffer_store_format_xy v[10:11], v1, s[12:15], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT] offen "
      "offset:1024");
  p.begin();
  p.out[0] = 0xff, p.out[1] = 0x80, p.out[3] = 0x33;
  p.s(15) |= 0xfac; // components x, y, z, w
  p.fill(1, times(4));
  p.fill(10, [](unsigned) { return 0x3f800000; });
  p.fill(11, [](unsigned) { return 0xc0000000; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(4).lane[0], 0x3f800000u);
  EXPECT_EQ(p.v(6).lane[0], 0u);
  EXPECT_EQ(p.v(7).lane[0], 0x3e4ccccdu); // 0.2
  EXPECT_EQ(p.v(8).lane[0], 0xffff80ffu);
  EXPECT_EQ(p.dword(1024), 0xc0003c00u);
}

TEST(Scalar, LoadsIgnoreLowAddressBitsAndBuffersClamp) {
  Buffers p("s_load_dwordx4 s[20:23], s[4:5], 0x12\ns_mov_b32 s30, 8\ns_load_dword s24, s[4:5], s30 offset:4\n"
            "s_buffer_load_dwordx4 s[40:43], s[8:11], 0x18");
  p.begin();
  p.s(10) = 32;
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.s(20), 0x1004u);
  EXPECT_EQ(p.s(23), 0x1007u);
  EXPECT_EQ(p.s(24), 0x1003u);
  EXPECT_EQ(p.s(41), 0x1007u);
  EXPECT_EQ(p.s(42), 0u);
}

TEST(Scalar, StoresOfOlderTargets) {
  Buffers p("s_store_dwordx2 s[20:21], s[6:7], 0x10", 4096, isa::Processor::gfx90a);
  p.begin();
  p.s(20) = 5, p.s(21) = 6;
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.dword(16), 5u);
  EXPECT_EQ(p.dword(20), 6u);
}

TEST(Scalar, AtomicsReturnWhatWasThere) {
  Buffers p("s_atomic_add s22, s[6:7], 0x10 glc\ns_atomic_inc s23, s[6:7], 0x10");
  p.begin();
  p.out[16] = 5;
  p.s(22) = 10, p.s(23) = 20;
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.dword(16), 16u);
  EXPECT_EQ(p.s(22), 5u);
  EXPECT_EQ(p.s(23), 20u);
}
