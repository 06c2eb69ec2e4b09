#include "analysis/lane_masks.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace asmevo::analysis {
namespace {

TEST(LaneMasks, what_is_said_to_lie_within_does_for_any_lanes) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    LaneMasks masks;
    std::map<MaskId, uint64_t> lanes = {
        {LaneMasks::all, ~uint64_t{0}}, {LaneMasks::entry, random() | 1}, {LaneMasks::none, 0}};
    const auto any = [&] { return std::next(lanes.begin(), std::ptrdiff_t(random() % lanes.size()))->first; };
    for (uint32_t item = 0; item < 40; ++item) {
      const MaskId a = any(), b = any();
      const uint64_t x = lanes[a], y = lanes[b];
      MaskId made = a;
      uint64_t expected = x;
      switch (random() % 5) {
      case 0:
        made = masks.join(item, a, b), expected = x | y;
        break;
      case 1:
        made = masks.intersect(item, a, b), expected = x & y;
        break;
      case 2:
        made = masks.remove(item, a, b), expected = x & ~y;
        break;
      case 3:
        made = masks.exchange(item, a, b), expected = x ^ y;
        break;
      case 4:
        made = masks.made(item, a), expected = x & random();
        break;
      }
      ASSERT_EQ(lanes.emplace(made, expected).first->second, expected) << seed;
    }
    for (const auto& [a, x] : lanes)
      for (const auto& [b, y] : lanes) {
        ASSERT_TRUE(!masks.within(a, b) || (x & ~y) == 0) << seed;
        ASSERT_TRUE(masks.within(a, masks.around(a, b)) && masks.within(b, masks.around(a, b))) << seed;
      }
  }
}

TEST(LaneMasks, what_was_left_and_what_was_taken_are_the_whole) {
  LaneMasks masks;
  const MaskId then = masks.made(1, LaneMasks::entry), otherwise = masks.exchange(2, then, LaneMasks::entry);
  EXPECT_EQ(masks.join(3, then, otherwise), LaneMasks::entry);
  EXPECT_EQ(masks.join(3, then, masks.made(4, LaneMasks::entry)) == LaneMasks::entry, false);
}

} // namespace
} // namespace asmevo::analysis
