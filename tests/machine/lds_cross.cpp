// DS instructions that exchange data between lanes, against the manual's text; those that add the lane's number to an
// address, and the counters in LDS.
#include "wave_fixture.h"

using namespace asmevo;
using namespace asmevo::machine;
using isa::Processor;

namespace {

uint32_t word(unsigned lane, unsigned k) { return (lane + 1) * 0x9e3779b9u + k * 0x7f4a7c15u; }

/// Runs `text` with v1 as `address` says, v2 to v4 holding words, v10 old words, under `exec`.
template <class Address> std::unique_ptr<Program>
ran(const std::string& text, Address address, uint64_t exec = all_lanes, Processor processor = Processor::gfx942) {
  auto p = std::make_unique<Program>(text, processor);
  p->start();
  p->fill(1, address);
  for (const unsigned r : {2u, 3u, 4u, 10u}) p->fill(r, [&](unsigned i) { return word(i, r); });
  p->wave().set_exec(exec);
  p->run();
  EXPECT_EQ(p->end(), TurnEnd::finished) << p->fault();
  p->note();
  return p;
}

constexpr uint64_t masks[] = {all_lanes, 0x0000'ffff'0000'ffff, 0xfedc'ba98'7654'3210, 1};

} // namespace

TEST(LdsCross, BpermutePullsFromTheLaneThatTheAddressNames) {
  // The offset adds to the address, low bits and all beyond the wave are ignored, inactive lanes supply 0.
  for (const uint64_t exec : masks)
    for (const uint32_t offset : {0u, 4u, 255u}) {
      const auto address = [](unsigned i) {
        return i % 5 == 0 ? 0xfffffffc : 4 * (i * 11 % 64) + i % 4 + 256 * (i % 3);
      };
      const auto p = ran(fmt::format("ds_bpermute_b32 v10, v1, v2 offset:{}", offset), address, exec);
      for (unsigned i = 0; i < lanes; ++i) {
        const unsigned from = (address(i) + offset) / 4 % 64;
        const uint32_t wanted = !(exec >> i & 1) ? word(i, 10) : exec >> from & 1 ? word(from, 2) : 0;
        ASSERT_EQ(p->v(10).lane[i], wanted) << "lane " << i << " offset " << offset;
      }
    }
}

TEST(LdsCross, PermutePushesToTheLaneThatTheAddressNamesAndTheHighestLaneWins) {
  for (const uint64_t exec : masks)
    for (const uint32_t offset : {0u, 8u}) {
      const auto address = [](unsigned i) { return 4 * (i * i % 64) + i % 4 + 256 * (i % 2); };
      const auto p = ran(fmt::format("ds_permute_b32 v10, v1, v2 offset:{}", offset), address, exec);
      uint32_t pushed[lanes] = {}; // where nothing arrives: 0
      for (unsigned i = 0; i < lanes; ++i)
        if (exec >> i & 1) pushed[(address(i) + offset) / 4 % 64] = word(i, 2);
      for (unsigned i = 0; i < lanes; ++i)
        ASSERT_EQ(p->v(10).lane[i], exec >> i & 1 ? pushed[i] : word(i, 10)) << "lane " << i;
    }
}

TEST(LdsCross, SwizzlesFollowTheirOffset) {
  const auto source = [](unsigned offset, unsigned lane) -> unsigned {
    const unsigned half = lane & 32, i = lane & 31;
    if (offset >= 0xe000) { // bits reversed: FFT
      unsigned reversed = 0, ones = 0;
      for (unsigned k = 0; k < 5; ++k) reversed |= (i >> k & 1) << (4 - k), ones += offset >> k & 1;
      return half | ((reversed >> ones | (i & offset & 31)) & 31);
    }
    if (offset >= 0xc000) { // rotated among the lanes that the mask leaves
      const unsigned mask = offset & 31, by = offset >> 5 & 31;
      const unsigned turned = offset & 0x400 ? i + 32 - by : i + by;
      return half | (i & mask) | (turned & ~mask & 31);
    }
    if (offset >= 0x8000) return (lane & ~3u) | (offset >> (lane % 4 * 2) & 3);
    const unsigned keep = offset & 31, set = offset >> 5 & 31, flip = offset >> 10 & 31;
    return half | (((i & keep) | set) ^ flip);
  };
  for (const unsigned offset : {0x041fu, 0x001fu, 0x7c1fu, 0x1010u, 0x00a5u, 0x801bu, 0x80ffu, 0x8000u, 0xc060u,
                                0xc46fu, 0xc3e3u, 0xe000u, 0xe010u, 0xe01fu, 0xe003u})
    for (const uint64_t exec : masks) {
      const auto p = ran(fmt::format("ds_swizzle_b32 v10, v2 offset:{:#x}", offset), [](unsigned) { return 0; }, exec);
      for (unsigned i = 0; i < lanes; ++i) {
        const unsigned from = source(offset, i);
        const uint32_t wanted = !(exec >> i & 1) ? word(i, 10) : exec >> from & 1 ? word(from, 2) : 0;
        ASSERT_EQ(p->v(10).lane[i], wanted) << std::hex << offset << " lane " << std::dec << i;
      }
    }
}

TEST(LdsCross, TransposingReadsGiveALaneItsColumn) {
  struct Form {
    const char* text;
    unsigned bits, dwords;
  };
  // A block of sixteen lanes reads a tile of sixteen columns, row after row.
  for (const Form form : {Form{"ds_read_b64_tr_b16 v[10:11], v1", 16, 2}, Form{"ds_read_b64_tr_b8 v[10:11], v1", 8, 2},
                          Form{"ds_read_b64_tr_b4 v[10:11], v1", 4, 2}, Form{"ds_read_b96_tr_b6 v[10:12], v1", 6, 3}}) {
    SCOPED_TRACE(form.text);
    const unsigned stride = form.dwords == 2 ? 8 : 16;
    const std::string text = form.dwords == 2 ? "ds_write_b64 v1, v[2:3]\n" : "ds_write_b96 v1, v[2:4]\n";
    const auto p = ran(text + form.text, [&](unsigned i) { return stride * i; }, all_lanes, Processor::gfx950);
    const unsigned elements = form.dwords * 32 / form.bits;
    for (unsigned i = 0; i < lanes; ++i)
      for (unsigned e = 0; e < elements; ++e) { // row e of the tile
        const unsigned position = e * 16 + i % 16, from = (i & ~15u) + position / elements,
                       element = position % elements;
        for (unsigned b = 0; b < form.bits; ++b) {
          const unsigned k = e * form.bits + b, n = element * form.bits + b;
          ASSERT_EQ(p->v(10 + k / 32).lane[i] >> k % 32 & 1, word(from, 2 + n / 32) >> n % 32 & 1)
              << "lane " << i << " element " << e;
        }
      }
  }
}

TEST(LdsCross, AddTidAddressesLaneAfterLaneFromM0) {
  for (const uint64_t exec : masks) {
    const auto p = ran(
        "s_mov_b32 m0, 0x100\nds_write_addtid_b32 v2 offset:8\nds_read_addtid_b32 v10 offset:12",
        [](unsigned) { return 0; }, exec);
    for (unsigned i = 0; i < lanes; ++i) {
      ASSERT_EQ(p->lds<uint32_t>(0x108 + 4 * i), exec >> i & 1 ? word(i, 2) : 0);
      const bool written = i + 1 < lanes && (exec >> (i + 1) & 1);
      ASSERT_EQ(p->v(10).lane[i], !(exec >> i & 1) ? word(i, 10) : written ? word(i + 1, 2) : 0);
    }
  }
}

TEST(LdsCross, CountersGoUpAndDownByTheNumberOfActiveLanes) {
  for (const uint64_t exec : masks) {
    const auto p = ran(
        "s_mov_b32 m0, 0x100\nds_append v10 offset:4\nds_append v11 offset:4\nds_consume v12 offset:4",
        [](unsigned) { return 0; }, exec);
    const auto count = uint32_t(std::popcount(exec));
    for (unsigned i = 0; i < lanes; ++i) {
      ASSERT_EQ(p->v(10).lane[i], exec >> i & 1 ? 0 : word(i, 10));
      ASSERT_EQ(p->v(11).lane[i], exec >> i & 1 ? count : 0);
      ASSERT_EQ(p->v(12).lane[i], exec >> i & 1 ? 2 * count : 0);
    }
    ASSERT_EQ(p->lds<uint32_t>(0x104), count);
  }
}
