#include "device/fill_cache.h"

#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::device;

namespace {

launch::Case case_with(uint64_t seed, launch::Fill fill = {.kind = launch::FillKind::normal}) {
  launch::Case c;
  c.seed = seed;
  c.buffers.push_back({.name = "x", .shape = {1 << 16}, .fill = std::move(fill)});
  return c;
}

Bytes drawn(const launch::Case& c) { return launch::initial_bytes(c, c.buffers[0], 1).value(); }

Bytes cached(FillCache& cache, const launch::Case& c) {
  Bytes bytes(c.buffers[0].bytes());
  EXPECT_TRUE(cache.fill(c, c.buffers[0], 1, bytes));
  return bytes;
}

} // namespace

TEST(FillCache, gives_what_drawing_gives_first_and_later) {
  FillCache cache;
  for (int turn = 0; turn < 2; ++turn)
    for (uint64_t seed : {1, 2}) EXPECT_EQ(cached(cache, case_with(seed)), drawn(case_with(seed)));
}

TEST(FillCache, tells_fills_apart_by_all_that_they_depend_on) {
  FillCache cache;
  launch::Case c = case_with(1);
  cached(cache, c);
  std::vector<launch::Case> others(5, c);
  others[0].seed = 2;
  others[1].buffers[0].name = "y";
  others[2].buffers[0].dtype = launch::DType::f16;
  others[3].buffers[0].fill.b = 2;
  others[4].buffers[0].fill.kind = launch::FillKind::uniform;
  for (const launch::Case& other : others) EXPECT_EQ(cached(cache, other), drawn(other));
}

TEST(FillCache, draws_again_what_it_has_no_room_for) {
  FillCache cache;
  launch::Case large = case_with(1);
  large.buffers[0].shape = {20 << 20}; // 80 MiB
  const Bytes first = cached(cache, large);
  for (uint64_t seed = 2; seed < 9; ++seed) {
    large.seed = seed;
    cached(cache, large);
  }
  large.seed = 1;
  EXPECT_EQ(cached(cache, large), first);
}
