#include "isa/counters.h"

#include "isa/codec.h"

#include <gtest/gtest.h>

namespace asmevo::isa {
namespace {

Instruction decoded(std::string_view text) {
  static const Codec codec = *Codec::create({.processor = Processor::gfx942});
  const auto bytes = codec.assemble(text);
  EXPECT_TRUE(bytes) << text << ": " << bytes.error().message;
  return bytes ? codec.decode(*bytes, 0) : Instruction{};
}

TEST(Counters, TheImmediateOfWaitcntKeepsAllThreeCounts) {
  for (int vmcnt : {0, 1, 15, 16, 63})
    for (int expcnt : {0, 7})
      for (int lgkmcnt : {0, 9, 15}) {
        const WaitCounts wait{static_cast<uint8_t>(vmcnt), static_cast<uint8_t>(expcnt), static_cast<uint8_t>(lgkmcnt)};
        EXPECT_EQ(decode_waitcnt(encode_waitcnt(wait)), wait);
      }
}

TEST(Counters, TheImmediateIsWhatTheAssemblerWrites) {
  const Instruction i = decoded("s_waitcnt vmcnt(37) expcnt(3) lgkmcnt(5)");
  EXPECT_EQ(waits_of(i), (WaitCounts{37, 3, 5}));
  EXPECT_EQ(encode_waitcnt({37, 3, 5}), i.words[0] & 0xffff);
  EXPECT_TRUE(waits_of(decoded("s_nop 0")).none());
  EXPECT_EQ(waits_of(decoded("s_waitcnt vmcnt(0)")), (WaitCounts{0, 7, 15}));
}

TEST(Counters, EveryKindOfInstructionRaisesItsCounters) {
  struct Row {
    std::string_view text;
    int vmcnt, lgkmcnt, expcnt;
    bool out_of_order;
  };
  constexpr Row rows[] = {
      {"buffer_load_dword v0, off, s[0:3], 0", 1, 0, 0, false},
      {"buffer_store_dword v0, off, s[0:3], 0", 1, 0, 0, false},
      {"buffer_load_dword off, s[0:3], 0 lds", 1, 0, 0, false},
      {"global_atomic_add v[0:1], v2, off", 1, 0, 0, false},
      {"global_load_lds_dword v[0:1], off", 1, 0, 0, false},
      {"scratch_load_dword v0, off, s0", 1, 0, 0, false},
      {"flat_load_dword v0, v[2:3]", 1, 1, 0, true},
      {"flat_store_dword v[2:3], v0", 1, 1, 0, true},
      {"ds_read_b128 v[0:3], v4", 0, 1, 0, false},
      {"ds_write_b32 v0, v1", 0, 1, 0, false},
      {"ds_bpermute_b32 v0, v1, v2", 0, 1, 0, false},
      {"s_load_dword s0, s[2:3], 0x0", 0, 1, 0, true},
      {"s_load_dwordx4 s[0:3], s[4:5], 0x0", 0, 2, 0, true},
      {"s_memtime s[0:1]", 0, 2, 0, true},
      {"s_sendmsg sendmsg(MSG_INTERRUPT)", 0, 1, 0, false},
      {"buffer_wbl2 sc1", 1, 0, 0, false},
      {"buffer_inv sc1", 0, 0, 0, false},
      {"v_add_f32_e32 v0, v1, v2", 0, 0, 0, false},
      {"s_barrier", 0, 0, 0, false},
  };
  for (const Row& row : rows) {
    const CounterEvents events = counter_events(decoded(row.text));
    EXPECT_EQ(events.vmcnt, row.vmcnt) << row.text;
    EXPECT_EQ(events.lgkmcnt, row.lgkmcnt) << row.text;
    EXPECT_EQ(events.expcnt, row.expcnt) << row.text;
    EXPECT_EQ(events.lgkm_out_of_order, row.out_of_order) << row.text;
  }
}

} // namespace
} // namespace asmevo::isa
