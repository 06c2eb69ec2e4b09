// Tags with LRU replacement.
#include "timing/cache.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <list>
#include <random>
#include <vector>

namespace asmevo::timing {

TEST(cache, the_least_recently_used_line_of_the_set_leaves_first) {
  Cache c(4, 1);
  for (uint64_t line : {1, 2, 3, 4}) c.insert(line, 0);
  EXPECT_TRUE(c.find(1)); // now 2 is the oldest
  EXPECT_TRUE(c.insert(5, 0));
  EXPECT_FALSE(c.find(2));
  EXPECT_TRUE(c.find(1));
  EXPECT_TRUE(c.find(5));
}

TEST(cache, lines_of_different_sets_do_not_compete) {
  Cache c(4, 2);
  for (uint64_t line : {0, 2, 1, 3}) EXPECT_FALSE(c.insert(line, 0));
  EXPECT_TRUE(c.insert(4, 0));
  EXPECT_FALSE(c.find(0));
  EXPECT_TRUE(c.find(1));
}

TEST(cache, an_erased_line_leaves_room_for_the_next_one) {
  Cache c(2, 1);
  c.insert(1, 0);
  c.insert(2, 0);
  c.erase(2);
  EXPECT_FALSE(c.find(2));
  EXPECT_FALSE(c.insert(3, 0));
  EXPECT_TRUE(c.find(1));
}

TEST(cache, agrees_with_a_list_ordered_by_use) {
  Cache c(8, 1);
  std::list<uint64_t> order;
  std::mt19937_64 random(1);
  for (int step = 0; step < 20000; ++step) {
    const uint64_t line = random() % 14;
    const auto at = std::ranges::find(order, line);
    ASSERT_EQ(c.find(line) != nullptr, at != order.end()) << step;
    if (at != order.end()) order.erase(at);
    if (random() % 16 == 0) {
      c.erase(line);
      continue;
    }
    if (!c.find(line)) c.insert(line, step);
    order.push_front(line);
    if (order.size() > 8) order.pop_back();
  }
}

} // namespace asmevo::timing
