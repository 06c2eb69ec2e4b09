#include "device/placement.h"

#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::device;

namespace {

launch::Case three_buffers() {
  launch::Case c;
  for (const char* name : {"a", "b", "c"})
    c.buffers.push_back({.name = name,
                         .dtype = launch::DType::f32,
                         .shape = {1001},
                         .role = launch::Role::out,
                         .fill = {.kind = launch::FillKind::poison}});
  return c;
}

} // namespace

TEST(Placement, is_the_same_each_time_and_leaves_gigabytes_between_buffers) {
  launch::Case c = three_buffers();
  Placement one = place(c, 0), two = place(c, 0);
  EXPECT_EQ(one.addresses(), two.addresses());
  for (size_t i = 1; i < 3; ++i) EXPECT_GE(one.buffers[i].address - one.buffers[i - 1].end(), uint64_t{4} << 30);
}

TEST(Placement, other_placements_move_buffers_and_align_them_to_no_more_than_256) {
  launch::Case c = three_buffers();
  for (unsigned placement : {1u, 2u, 3u, 4u}) {
    Placement other = place(c, placement);
    bool page_aligned = true;
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NE(other.buffers[i].address, place(c, 0).buffers[i].address);
      EXPECT_EQ(other.buffers[i].address % 256, 0u);
      page_aligned &= other.buffers[i].address % 4096 == 0;
    }
    EXPECT_FALSE(page_aligned);
  }
  EXPECT_GT(place(c, 1).buffers[0].address, place(c, 1).buffers[2].address);
}

TEST(Placement, captured_buffers_stay_and_share_what_lies_between_them) {
  launch::Case c = three_buffers();
  c.buffers[0].address = 0x10000;
  c.buffers[1].address = 0x10000 + 4004 + 100;        // 100 bytes behind
  c.buffers[2].address = 0x10000 + 4004 + 100 + 4004; // adjacent
  Placement p = place(c, 5);
  EXPECT_EQ(p.buffers[0].address, 0x10000u);
  EXPECT_EQ(p.buffers[0].guard_after, 50u);
  EXPECT_EQ(p.buffers[1].guard_before, 50u);
  EXPECT_EQ(p.buffers[1].guard_after, 0u);
  EXPECT_EQ(p.buffers[2].guard_before, 0u);
  EXPECT_EQ(p.buffers[2].guard_after, guard_bytes);
  machine::Memory memory;
  KeptInputs inputs;
  EXPECT_TRUE(map_buffers(memory, c, p, inputs, 1));
  EXPECT_TRUE(guard_damage(memory, p, 1).empty());
}

TEST(Placement, the_runtime_keeps_clear_of_captured_buffers) {
  launch::Case c = three_buffers();
  Placement free = place(c, 0);
  c.buffers[0].address = free.image_base;
  c.buffers[1].address = free.kernarg_address;
  c.buffers[2].address = 0x1000'0000;
  Placement p = place(c, 0);
  for (uint64_t at : {p.image_base, p.kernarg_address, p.packet_address, p.queue_address})
    for (const PlacedBuffer& placed : p.buffers) EXPECT_FALSE(placed.holds(at));
}

TEST(Guards, every_changed_byte_is_seen_with_its_offset) {
  launch::Case c = three_buffers();
  Placement p = place(c, 0);
  machine::Memory memory;
  KeptInputs inputs;
  ASSERT_TRUE(map_buffers(memory, c, p, inputs, 7));
  EXPECT_TRUE(guard_damage(memory, p, 7).empty());
  EXPECT_EQ(guard_damage(memory, p, 8).size(), 6u); // another poison
  uint8_t* b = contents(memory, p.buffers[1]).data();
  b[4004] ^= 1;
  b[-1] ^= 1;
  b[-4096] ^= 1;
  b[4004 + 4095] ^= 1;
  auto damage = guard_damage(memory, p, 7);
  ASSERT_EQ(damage.size(), 2u);
  EXPECT_EQ(damage[0], "guard before `b`: 2 bytes changed at -4096 to -1");
  EXPECT_EQ(damage[1], "guard after `b`: 2 bytes changed at +0 to +4095");
}
