// Vector instructions that move and do not compute: plain moves, swaps, accumulation registers, single lanes, halves.
#include "valu_fixture.h"
#include "wave_fixture.h"

namespace asmevo::machine {
namespace {

using isa::Processor;

constexpr Processor processors[] = {Processor::gfx908, Processor::gfx90a, Processor::gfx942, Processor::gfx950};

uint32_t word(unsigned lane, unsigned k) { return (lane + 1) * 0x9e3779b9u + k * 0x7f4a7c15u; }

/// Runs `text` with registers 0 to 31 holding words, EXEC and M0 as the text sets them.
std::unique_ptr<Program> ran(const std::string& text, Processor processor) {
  SCOPED_TRACE(text);
  auto p = std::make_unique<Program>(text, processor);
  p->start();
  for (unsigned r = 0; r < 32; ++r) p->fill(r, [&](unsigned i) { return word(i, r); });
  p->run();
  EXPECT_EQ(p->end(), TurnEnd::finished) << p->fault();
  p->note();
  return p;
}

constexpr uint64_t some = 0x00ff'1234'8000'0001;
const std::string some_lanes = "s_mov_b32 exec_lo, 0x80000001\ns_mov_b32 exec_hi, 0x00ff1234\n";

TEST(ValuLanes, MovesCopyActiveLanes) {
  for (const Processor on : processors) {
    const auto p = ran(some_lanes + "v_mov_b32 v10, v2", on);
    for (unsigned i = 0; i < lanes; ++i) ASSERT_EQ(p->v(10).lane[i], word(i, some >> i & 1 ? 2 : 10));
    const auto swapped = ran(some_lanes + "v_swap_b32 v10, v11", on);
    for (unsigned i = 0; i < lanes; ++i) {
      ASSERT_EQ(swapped->v(10).lane[i], word(i, some >> i & 1 ? 11 : 10));
      ASSERT_EQ(swapped->v(11).lane[i], word(i, some >> i & 1 ? 10 : 11));
    }
    if (on < Processor::gfx942) continue;
    const auto wide = ran(some_lanes + "v_mov_b64 v[10:11], v[2:3]", on);
    for (unsigned k = 0; k < 2; ++k)
      for (unsigned i = 0; i < lanes; ++i) ASSERT_EQ(wide->v(10 + k).lane[i], word(i, some >> i & 1 ? 2 + k : 10 + k));
  }
}

TEST(ValuLanes, PackedMovesTakeTheDwordThatOpSelNames) {
  for (const Processor on : {Processor::gfx90a, Processor::gfx942, Processor::gfx950})
    for (unsigned a = 0; a < 2; ++a)
      for (unsigned b = 0; b < 2; ++b) {
        const auto p = ran(
            some_lanes + fmt::format("v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[{},{}] op_sel_hi:[0,0]", a, b), on);
        for (unsigned i = 0; i < lanes; ++i) {
          ASSERT_EQ(p->v(10).lane[i], word(i, some >> i & 1 ? 2 + a : 10));
          ASSERT_EQ(p->v(11).lane[i], word(i, some >> i & 1 ? 4 + b : 11));
        }
      }
}

TEST(ValuLanes, AccumulationRegistersAreReadWrittenAndCopied) {
  for (const Processor on : processors) {
    const std::string clear = "v_accvgpr_write_b32 a3, 0\ns_nop 0\n",
                      read = "\ns_mov_b64 exec, -1\nv_accvgpr_read_b32 v10, a3";
    const auto p = ran(clear + some_lanes + "v_accvgpr_write_b32 a3, v1" + read, on);
    for (unsigned i = 0; i < lanes; ++i) ASSERT_EQ(p->v(10).lane[i], some >> i & 1 ? word(i, 1) : 0);
    if (on < Processor::gfx90a) continue;
    const auto copied =
        ran("v_accvgpr_write_b32 a5, v2\n" + clear + some_lanes + "v_accvgpr_mov_b32 a3, a5" + read, on);
    for (unsigned i = 0; i < lanes; ++i) ASSERT_EQ(copied->v(10).lane[i], some >> i & 1 ? word(i, 2) : 0);
  }
}

TEST(ValuLanes, SingleLanesGoToScalarsAndBack) {
  for (const Processor on : processors) {
    // EXEC does not count, the number of the lane is taken modulo 64.
    for (const unsigned number : {0u, 13u, 63u, 64u, 71u, 0xffffffffu}) {
      const std::string setup = fmt::format("s_mov_b32 s4, {:#x}\ns_mov_b64 exec, 0\n", number);
      const auto p = ran(setup + "v_readlane_b32 s5, v1, s4\nv_writelane_b32 v10, 33, s4", on);
      ASSERT_EQ(p->s(5), word(number % 64, 1));
      for (unsigned i = 0; i < lanes; ++i) ASSERT_EQ(p->v(10).lane[i], i == number % 64 ? 33 : word(i, 10));
    }
    // The lowest active lane, lane 0 where none is.
    for (const auto& [exec, lane] : {std::pair{"0x30", 4u}, {"0", 0u}, {"-1", 0u}, {"0x8000000000000000", 63u}}) {
      const std::string high =
          lane == 63 ? "s_mov_b32 exec_lo, 0\ns_mov_b32 exec_hi, 0x80000000" : fmt::format("s_mov_b64 exec, {}", exec);
      ASSERT_EQ(ran(high + "\nv_readfirstlane_b32 s5, v1", on)->s(5), word(lane, 1)) << exec;
    }
  }
}

TEST(ValuLanes, PermlaneSwapsExchangeRowsOfLanes) {
  for (const unsigned distance : {16u, 32u})
    for (const uint64_t exec : {all_lanes, uint64_t{0x0000'00f0'0f00'0ff0}}) {
      Lanes lanes;
      lanes.wave.set_exec(exec);
      for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(0, i, 100 + i), lanes.result().lane[i] = 200 + i;
      const std::string mnemonic = fmt::format("v_permlane{}_swap_b32", distance);
      lanes.run(mnemonic, Processor::gfx950);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const bool upper = i & distance;
        const unsigned other = i ^ distance;
        const bool swaps = (exec >> i & 1) && (exec >> other & 1);
        EXPECT_EQ(lanes.source(0).lane[i], upper || !swaps ? 100 + i : 200 + other);
        EXPECT_EQ(lanes.result().lane[i], upper && swaps ? 100 + other : 200 + i);
      }
      note_tested(mnemonic, Processor::gfx950);
    }
}

TEST(ValuLanes, HalvesArePackedAsTheyAre) {
  std::mt19937 random(3);
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    for (unsigned k = 0; k < 2; ++k) lanes.set(k, i, interesting_word(random));
    lanes.result().lane[i] = 0x11112222;
  }
  lanes.run("v_pack_b32_f16");
  for (unsigned i = 0; i < machine::lanes; ++i)
    ASSERT_EQ(lanes.result().lane[i], (lanes.source(0).lane[i] & 0xffff) | lanes.source(1).lane[i] << 16);
  note_tested("v_pack_b32_f16", Processor::gfx942);
}

TEST(ValuLanes, TruthTablesOfHalvesApplyToSelectedHalves) {
  std::mt19937 random(5);
  for (unsigned truth = 0; truth < 256; truth += 17)
    for (unsigned op_sel = 0; op_sel < 16; ++op_sel) {
      Lanes lanes;
      for (unsigned i = 0; i < machine::lanes; ++i) {
        for (unsigned k = 0; k < 3; ++k) lanes.set(k, i, interesting_word(random));
        lanes.result().lane[i] = 0x11112222;
      }
      lanes.op.modifiers = Modifiers::pack(truth & 7, truth >> 3 & 7, op_sel, 0, truth >> 6, 0);
      lanes.run("v_bitop3_b16", Processor::gfx950);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const auto bit = [&](unsigned k, unsigned n) {
          return lanes.source(k).lane[i] >> (n + (op_sel >> k & 1 ? 16 : 0)) & 1;
        };
        uint32_t half = 0;
        for (unsigned n = 0; n < 16; ++n) half |= (truth >> (bit(0, n) << 2 | bit(1, n) << 1 | bit(2, n)) & 1) << n;
        ASSERT_EQ(lanes.result().lane[i], op_sel & 8 ? half << 16 | 0x2222 : 0x11110000 | half) << truth;
      }
    }
  note_tested("v_bitop3_b16", Processor::gfx950);
}

} // namespace
} // namespace asmevo::machine
