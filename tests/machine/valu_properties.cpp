// What holds for every vector instruction, whatever it computes: lanes that EXEC turns off keep their destination, the
// others do not notice; and the destination may overlap any source.
#include "valu_fixture.h"

#include <algorithm>

namespace asmevo::machine {
namespace {

using isa::Processor;

constexpr Processor processors[] = {Processor::gfx908, Processor::gfx90a, Processor::gfx942, Processor::gfx950};

bool has_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != name.npos; });
}

/// Every vector instruction with a vector result that it computes lane by lane, once for each of its rows.
template <class F> void for_each_instruction(F f) {
  for (const auto table : all_rows())
    for (const InstructionRow& row : table) {
      if (row.shape != Shape::valu || rows_of(row.signature.dst) == 0) continue;
      // Matrices know no EXEC; scaled ones need a stage; these write a source or one lane.
      if (has_any(row.mnemonic, {"mfma", "smfmac", "swap", "writelane"})) continue;
      const auto on = std::ranges::find_if(processors, [&](Processor p) { return row.targets & bit(p); });
      if (on != std::end(processors)) f(row, *on);
    }
}

/// A wave whose registers hold the same words, whatever has run before.
struct Words {
  Lanes lanes;
  Words() {
    static const std::vector<Row> content = [] {
      std::mt19937 random(1);
      std::vector<Row> rows(320);
      for (Row& row : rows)
        for (auto& x : row.lane) x = interesting_word(random);
      return rows;
    }();
    for (uint32_t r = 0; r < content.size(); ++r) lanes.vgpr(r) = content[r];
    for (uint32_t k = 0; k < 3; ++k) lanes.wave.write64(Lanes::mask_source + 2 * k, 0x0123'4567'89ab'cdef * (k + 1));
    lanes.wave.set_vcc(0xfedc'0000'ffff'3210);
  }
};

TEST(ValuProperties, InactiveLanesKeepTheirDestinationAndChangeNothingElse) {
  for_each_instruction([](const InstructionRow& row, Processor on) {
    const uint64_t exec = 0x8000'1234'00ff'f00d;
    Words all, some, before;
    some.lanes.wave.set_exec(exec);
    all.lanes.run(row.mnemonic, on);
    some.lanes.run(row.mnemonic, on);
    for (uint32_t r = 0; r < 320; ++r)
      for (unsigned i = 0; i < lanes; ++i) {
        Words& wanted = exec >> i & 1 ? all : before;
        ASSERT_EQ(some.lanes.vgpr(r).lane[i], wanted.lanes.vgpr(r).lane[i])
            << row.mnemonic << " on " << isa::processor_name(on) << " row " << r << " lane " << i;
      }
    if (row.signature.carry_out) {
      ASSERT_EQ(some.lanes.mask(), all.lanes.mask() & exec) << row.mnemonic;
    }
  });
}

TEST(ValuProperties, TheDestinationMayOverlapAnySource) {
  for_each_instruction([](const InstructionRow& row, Processor on) {
    const auto result_rows = int(rows_of(row.signature.dst));
    for (unsigned k = 0; k < 3; ++k) {
      const auto source_rows = int(rows_of(row.signature.src[k]));
      for (int shift = 1 - result_rows; shift < source_rows; ++shift) {
        Words together, apart;
        const uint32_t at = Lanes::first_source + 64 * k + uint32_t(shift);
        together.lanes.op.dst = RowRef::of(RowSpace::vgpr, at);
        for (int r = 0; r < result_rows; ++r) // what an accumulating instruction finds there
          apart.lanes.result(unsigned(r)) = together.lanes.vgpr(at + uint32_t(r));
        together.lanes.run(row.mnemonic, on);
        apart.lanes.run(row.mnemonic, on);
        for (int r = 0; r < result_rows; ++r)
          for (unsigned i = 0; i < lanes; ++i)
            ASSERT_EQ(together.lanes.vgpr(at + uint32_t(r)).lane[i], apart.lanes.result(unsigned(r)).lane[i])
                << row.mnemonic << " on " << isa::processor_name(on) << ", source " << k << " shifted by " << shift;
      }
    }
  });
}

} // namespace
} // namespace asmevo::machine
