#include "search/memory.h"

#include <gtest/gtest.h>

namespace asmevo::search {
namespace {

Failure failure(uint64_t window, Direction direction, int64_t last) {
  return {.window = window,
          .direction = direction,
          .rule = "rule",
          .outcome = gate::Outcome::divergence,
          .count = 1,
          .last = last};
}

TEST(Memory, RefusalsOfOneKindAreCountedTogether) {
  Memory memory;
  memory.note(failure(1, Direction::memory_access, 1));
  memory.note(failure(2, Direction::memory_access, 2));
  memory.note(failure(1, Direction::memory_access, 3));
  ASSERT_EQ(memory.failures().size(), 2u);
  EXPECT_EQ(memory.failures().back().window, 1u);
  EXPECT_EQ(memory.failures().back().count, 2);
  EXPECT_EQ(memory.failures().back().last, 3);
}

TEST(Memory, TheKindThatWasMetLongestAgoIsForgottenFirst) {
  Memory memory;
  for (uint64_t window = 0; window < Memory::most; ++window)
    memory.note(failure(window, Direction::memory_access, int64_t(window)));
  memory.note(failure(0, Direction::memory_access, 1000));
  memory.note(failure(5000, Direction::memory_access, 1001));
  EXPECT_EQ(memory.failures().size(), Memory::most);
  EXPECT_EQ(memory.count(0), 2);
  EXPECT_EQ(memory.count(1), 0);
}

TEST(Memory, CountsByWindowAndDirection) {
  Memory memory;
  memory.note(failure(1, Direction::memory_access, 1));
  memory.note(failure(1, Direction::latency_hiding, 2));
  EXPECT_EQ(memory.count(1), 2);
  EXPECT_EQ(memory.count(1, Direction::latency_hiding), 1);
  EXPECT_EQ(memory.count(1, Direction::register_pressure), 0);
}

} // namespace
} // namespace asmevo::search
