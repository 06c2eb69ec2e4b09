// The profile of an estimate: nothing of the attribution is lost or invented.
#include "profile/windows.h"
#include "timing/traced.h"

#include <algorithm>

namespace asmevo::profile {
namespace {

using timing::Access;
using timing::Occurrence;
using timing::Traced;

const timing::DeviceTable& mi300x = timing::device_for(isa::Processor::gfx942);

Traced loop() {
  Traced k("v_mov_b32 v4, v5\n"
           "loop:\n"
           "global_load_dword v1, v[2:3], off\n"
           "v_exp_f32 v0, v0\n"
           "s_waitcnt vmcnt(0)\n"
           "v_add_f32 v0, v1, v0\n"
           "s_cbranch_scc1 loop\n"
           "s_endpgm\n"
           "s_nop 0\n",
           4);
  k.trips = 20;
  const uint32_t row = k.strided(4, 4);
  k.access = [=](const Occurrence& o) { return Access{row, 0x1000000 + o.times * 4096ull}; };
  return k;
}

Profile profile_of(Traced& k) {
  return from_estimate(k.estimate(mi300x, {.draws = 1, .attribution = true}), k.code, "test");
}

} // namespace

TEST(profile, accounts_for_every_clock_of_the_simds) {
  Traced k = loop();
  const Profile p = profile_of(k);
  EXPECT_EQ(p.total(), 4 * p.speed->simulated_cycles);
}

TEST(profile, has_a_row_for_each_instruction_that_was_executed_and_no_other) {
  Traced k = loop();
  const Profile p = profile_of(k);
  ASSERT_EQ(p.rows.size(), 7u);
  EXPECT_EQ(p.at(k.code[0].address)->issues, 4);
  EXPECT_EQ(p.at(k.code[1].address)->issues, 80);
  EXPECT_EQ(p.at(k.code[7].address), nullptr);
  EXPECT_EQ(p.at(k.code[1].address + 1), nullptr);
}

TEST(profile, says_what_the_wait_waits_for) {
  Traced k = loop();
  const Profile p = profile_of(k);
  const auto edge = std::ranges::find_if(p.edges, [&](const Edge& e) { return e.consumer == k.code[3].address; });
  ASSERT_NE(edge, p.edges.end());
  EXPECT_EQ(edge->producer, k.code[1].address);
  EXPECT_EQ(edge->reason, Reason::vmcnt);
}

TEST(profile, puts_the_busiest_resource_first) {
  Traced k = loop();
  const Profile p = profile_of(k);
  EXPECT_TRUE(std::ranges::is_sorted(p.speed->loads, std::ranges::greater(), &timing::Load::share));
  EXPECT_FALSE(p.speed->loads.empty());
}

TEST(hot_windows, are_basic_blocks_with_the_most_expensive_first) {
  Traced k = loop();
  const Profile p = profile_of(k);
  const std::vector<Window> windows = hot_windows(p, k.code);
  ASSERT_GE(windows.size(), 2u);
  EXPECT_EQ(windows[0].begin, 1u); // the loop
  EXPECT_EQ(windows[0].end, 6u);
  EXPECT_TRUE(windows[0].whole_block);
  EXPECT_EQ(windows[0].issues, 80);
  EXPECT_EQ(windows[0].bound(), "vmcnt");
  double sum = p.speed->dispatch + p.speed->drain;
  for (const Window& w : windows) sum += w.cost;
  EXPECT_EQ(sum, p.total());
}

TEST(hot_windows, cut_long_blocks_into_spans_that_cover_them) {
  Traced k(timing::times(300, "v_add_f32 v0, v1, v2") + "s_endpgm");
  const Profile p = profile_of(k);
  std::vector<Window> windows = hot_windows(p, k.code);
  std::ranges::sort(windows, {}, &Window::begin);
  size_t at = 0;
  for (const Window& w : windows) {
    EXPECT_EQ(w.begin, at);
    EXPECT_LE(w.end - w.begin, 64u);
    EXPECT_FALSE(w.whole_block);
    at = w.end;
  }
  EXPECT_EQ(at, 301u);
}

TEST(hot_windows, are_cut_where_it_costs_least) {
  // A wait in the middle of a long block: its neighbours stay with it.
  Traced k(timing::times(50, "v_add_f32 v0, v1, v2") + "global_load_dword v1, v[2:3], off\n" +
           "v_nop\ns_waitcnt vmcnt(0)\nv_nop\n" + timing::times(100, "v_add_f32 v0, v1, v2") + "s_endpgm");
  const uint32_t row = k.strided(4, 4);
  k.access = [=](const Occurrence&) { return Access{row, 0x1000000}; };
  const std::vector<Window> windows = hot_windows(profile_of(k), k.code);
  EXPECT_GT(windows[0].end, 53u);
  EXPECT_LT(windows[0].begin, 52u);
}

TEST(basic_blocks, begin_at_targets_and_end_at_branches) {
  Traced k("s_cbranch_scc0 skip\ns_nop 0\nloop:\ns_nop 1\ns_cbranch_scc1 loop\nskip:\ns_endpgm\ns_nop 2");
  const std::vector<std::pair<size_t, size_t>> expected = {{0, 1}, {1, 2}, {2, 4}, {4, 5}, {5, 6}};
  EXPECT_EQ(basic_blocks(k.code), expected);
}

} // namespace asmevo::profile
