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
  for (uint64_t line : {1, 2, 3, 4}) c.insert(line, {});
  EXPECT_TRUE(c.find(1)); // now 2 is the oldest
  EXPECT_TRUE(c.insert(5, {}));
  EXPECT_FALSE(c.find(2));
  EXPECT_TRUE(c.find(1));
  EXPECT_TRUE(c.find(5));
}

TEST(cache, lines_of_different_sets_do_not_compete) {
  Cache c(4, 2);
  for (uint64_t line : {0, 2, 1, 3}) EXPECT_FALSE(c.insert(line, {}));
  EXPECT_TRUE(c.insert(4, {}));
  EXPECT_FALSE(c.find(0));
  EXPECT_TRUE(c.find(1));
}

TEST(cache, an_erased_line_leaves_room_for_the_next_one) {
  Cache c(2, 1);
  c.insert(1, {});
  c.insert(2, {});
  c.erase(2);
  EXPECT_FALSE(c.find(2));
  EXPECT_FALSE(c.insert(3, {}));
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
    if (!c.find(line)) c.insert(line, {.ready = step});
    order.push_front(line);
    if (order.size() > 8) order.pop_back();
  }
}

using enum Cache::Use;

TEST(cache, streamed_lines_leave_before_older_ones_that_are_kept) {
  Cache c(4, 1);
  for (uint64_t line : {1, 2, 3}) c.insert(line, {});
  for (uint64_t line = 10; line < 30; ++line) c.insert(line, {}, streamed);
  for (uint64_t line : {1, 2, 3}) EXPECT_TRUE(c.find(line)) << line;
  EXPECT_TRUE(c.find(29, streamed));
  EXPECT_FALSE(c.find(28, streamed));
}

TEST(cache, the_oldest_streamed_line_leaves_first) {
  Cache c(3, 1);
  for (uint64_t line : {1, 2, 3}) c.insert(line, {}, streamed);
  EXPECT_TRUE(c.insert(4, {}));
  EXPECT_FALSE(c.find(1, streamed));
  EXPECT_TRUE(c.find(2, streamed));
  EXPECT_TRUE(c.find(3, streamed));
}

TEST(cache, a_streamed_line_is_not_given_up_while_its_data_is_on_its_way) {
  Cache c(2, 1);
  c.insert(1, {});
  c.insert(2, {.ready = 100}, streamed, 0);
  c.insert(3, {.ready = 150}, streamed, 50);
  EXPECT_TRUE(c.find(2, streamed));
  EXPECT_FALSE(c.find(1));
  c.insert(4, {.ready = 300}, streamed, 200);
  EXPECT_TRUE(c.find(2, streamed)); // used after 3 was brought in
  EXPECT_FALSE(c.find(3, streamed));
}

TEST(cache, a_streamed_line_that_another_access_wants_is_kept) {
  Cache c(3, 1);
  c.insert(1, {}, streamed);
  EXPECT_TRUE(c.find(1, kept));
  for (uint64_t line = 10; line < 20; ++line) c.insert(line, {}, streamed);
  EXPECT_TRUE(c.find(1));
}

TEST(cache, a_kept_line_that_a_streamed_access_finds_stays_as_it_was) {
  Cache c(3, 1);
  c.insert(1, {});
  EXPECT_TRUE(c.find(1, streamed));
  for (uint64_t line = 10; line < 20; ++line) c.insert(line, {}, streamed);
  EXPECT_TRUE(c.find(1));
}

// Both lists of uses, oldest last; the model of the same rules.
TEST(cache, agrees_with_two_lists_ordered_by_use) {
  constexpr size_t places = 8;
  Cache c(places, 1);
  struct Known {
    uint64_t line;
    int64_t ready;
  };
  std::list<Known> lists[2]; // kept, streamed
  std::mt19937_64 random(1);
  for (int64_t now = 0; now < 40000; ++now) {
    const uint64_t line = random() % 20;
    const Cache::Use use = random() % 3 == 0 ? kept : streamed;
    size_t in = 2;
    Known known{line, now + int64_t(random() % 6)};
    for (size_t k = 0; k < 2; ++k) {
      const auto at = std::ranges::find(lists[k], line, &Known::line);
      if (at == lists[k].end()) continue;
      in = k;
      known = *at;
      lists[k].erase(at);
    }
    if (random() % 16 == 0) {
      c.erase(line);
      ASSERT_FALSE(c.find(line)) << now;
      continue;
    }
    const Cache::Line* found = c.find(line, use);
    ASSERT_EQ(found != nullptr, in < 2) << now;
    if (found) {
      EXPECT_EQ(found->ready, known.ready);
      lists[in == 1 && use == streamed].push_front(known);
      continue;
    }
    if (lists[0].size() + lists[1].size() == places) {
      const bool oldest_streamed = !lists[1].empty() && (lists[0].empty() || lists[1].back().ready <= now);
      lists[oldest_streamed].pop_back();
    }
    c.insert(line, {.ready = known.ready}, use, now);
    lists[use == streamed].push_front(known);
  }
}

} // namespace asmevo::timing
