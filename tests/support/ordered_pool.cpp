#include "support/ordered_pool.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>

namespace asmevo {
namespace {

struct Nothing {};

TEST(OrderedPool, GivesResultsInTheOrderOfTheWork) {
  std::vector<int> results;
  OrderedPool<Nothing, int> pool(4, [&](int result) { results.push_back(result); });
  for (int i = 0; i < 50; i++)
    pool.add([i](Nothing&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(i % 3));
      return i;
    });
  pool.finish();
  ASSERT_EQ(results.size(), 50u);
  for (int i = 0; i < 50; i++) EXPECT_EQ(results[size_t(i)], i);
}

TEST(OrderedPool, HoldsNoMoreWorkThanTwoPiecesAThread) {
  std::atomic<int> alive = 0, most = 0;
  {
    OrderedPool<Nothing, int> pool(2, [](int) {});
    for (int i = 0; i < 40; i++) {
      auto piece = std::shared_ptr<int>(new int(i), [&](int* p) {
        alive--;
        delete p;
      });
      most = std::max(most.load(), ++alive);
      pool.add([piece](Nothing&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return *piece;
      });
    }
  }
  EXPECT_EQ(alive, 0);
  EXPECT_LE(most, 2 * 2 + 2); // in hand, in waiting, the one that is handed over and the one handed in
}

TEST(OrderedPool, KeepsTheStateOfAThreadFromPieceToPiece) {
  int last = 0;
  OrderedPool<int, int> pool(1, [&](int result) { last = result; });
  for (int i = 0; i < 10; i++) pool.add([](int& state) { return ++state; });
  pool.finish();
  EXPECT_EQ(last, 10);
}

} // namespace
} // namespace asmevo
