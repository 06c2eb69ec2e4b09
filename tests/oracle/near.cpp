#include "oracle/near.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace asmevo::oracle;

namespace {

std::span<const uint8_t> bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float)};
}

} // namespace

TEST(Near, sums_the_excess_and_distances_of_a_block_that_is_not_full) {
  const float next = std::nextafter(1.0F, 2.0F), below = std::nextafter(0.0F, -1.0F),
              above = std::nextafter(0.0F, 1.0F);
  const std::vector<float> expected = {1, 2, 1, above, -3}, got = {1, 2.5F, next, below, -3};
  const auto near = compare_near(bytes_of(expected), bytes_of(got), {.floor = 0.5, .relative = 0.25});
  ASSERT_TRUE(near);
  EXPECT_EQ(near->differing, 3u);
  EXPECT_DOUBLE_EQ(near->largest_excess, 0.5);
  EXPECT_DOUBLE_EQ(near->expected_square, 15);
  EXPECT_DOUBLE_EQ(near->got_square, 1 + 6.25 + double(next) * next + 9);
  EXPECT_DOUBLE_EQ(near->dot, 1 + 5 + double(next) + 9);
  UlpHistogram ulps;
  for (const uint64_t distance : {0, 1 << 21, 1, 2, 0}) ulps.add(distance);
  EXPECT_EQ(near->ulps.counts, ulps.counts);
}

TEST(Near, the_furthest_numbers_have_a_group_too) {
  const float most = std::numeric_limits<float>::max();
  const auto near = compare_near(bytes_of({most}), bytes_of({-most}), {.floor = 1e39});
  ASSERT_TRUE(near);
  EXPECT_EQ(near->ulps.counts[32], 1u);
  EXPECT_EQ(near->ulps.elements(), 1u);
}

TEST(Near, what_is_no_number_or_out_of_its_bound_is_for_others_to_say) {
  const std::vector<float> one(near_block, 1);
  for (const float strange : {NAN, INFINITY, -INFINITY, 1.5F})
    for (const size_t at : {size_t{0}, size_t{1000}, size_t(near_block) - 1}) {
      std::vector<float> other = one;
      other[at] = strange;
      EXPECT_FALSE(compare_near(bytes_of(one), bytes_of(other), {.floor = 0.25})) << strange << ' ' << at;
    }
  EXPECT_FALSE(compare_near(bytes_of({1}), bytes_of({std::nextafter(1.0F, 2.0F)}), {})); // exactly the same
  EXPECT_TRUE(compare_near(bytes_of({0.0F}), bytes_of({-0.0F}), {}));
  EXPECT_TRUE(compare_near(bytes_of(one), bytes_of(one), {}));
}
