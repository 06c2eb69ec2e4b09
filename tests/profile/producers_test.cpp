// What a wait in the code can be for.
#include "profile/producers.h"
#include "timing/traced.h"

#include <algorithm>

namespace asmevo::profile {
namespace {

using timing::Traced;

/// The producer's index of the stall at instruction `at` for `reason`; -1 where none is named.
int producer_of(const Traced& k, size_t at, Reason reason) {
  Profile p;
  Row row{.address = k.code[at].address};
  row.stalls[size_t(reason)] = 5;
  p.rows.push_back(row);
  add_producers(p, k.code);
  for (const Edge& e : p.edges) {
    EXPECT_EQ(e.consumer, k.code[at].address);
    EXPECT_EQ(e.reason, reason);
    EXPECT_EQ(e.stall, 5);
    for (size_t i = 0; i < k.code.size(); ++i)
      if (k.code[i].address == e.producer) return int(i);
  }
  return -1;
}

} // namespace

TEST(producers, a_limit_counts_back_through_the_loads) {
  const Traced k("global_load_dword v1, v[2:3], off\n"
                 "ds_read_b32 v9, v8\n"
                 "global_load_dword v4, v[2:3], off\n"
                 "s_waitcnt vmcnt(1)\n"
                 "s_waitcnt vmcnt(0)\n"
                 "s_waitcnt lgkmcnt(0)\n"
                 "s_endpgm");
  EXPECT_EQ(producer_of(k, 3, Reason::vmcnt), 0);
  EXPECT_EQ(producer_of(k, 4, Reason::vmcnt), 2);
  EXPECT_EQ(producer_of(k, 5, Reason::lgkmcnt), 1);
}

TEST(producers, an_operand_is_its_last_writers) {
  const Traced k("v_mov_b32 v1, v2\nv_exp_f32 v3, v4\nv_exp_f32 v1, v4\nv_add_f32 v5, v1, v3\ns_endpgm");
  EXPECT_EQ(producer_of(k, 3, Reason::dependency), 2);
}

TEST(producers, go_once_round_a_loop) {
  const Traced k("loop:\ns_waitcnt vmcnt(0)\nv_add_f32 v0, v1, v0\nglobal_load_dword v1, v[2:3], off\n"
                 "s_cbranch_scc1 loop\ns_endpgm");
  EXPECT_EQ(producer_of(k, 0, Reason::vmcnt), 2);
}

TEST(producers, are_left_open_where_they_are_in_another_block) {
  const Traced k("global_load_dword v1, v[2:3], off\ns_cbranch_scc0 next\nnext:\ns_waitcnt vmcnt(0)\ns_endpgm");
  EXPECT_EQ(producer_of(k, 2, Reason::vmcnt), -1);
}

TEST(producers, are_not_named_where_nothing_stalls) {
  const Traced k("global_load_dword v1, v[2:3], off\ns_waitcnt vmcnt(0)\ns_endpgm");
  Profile p;
  p.rows.push_back({.address = k.code[1].address, .issue = 3});
  add_producers(p, k.code);
  EXPECT_TRUE(p.edges.empty());
}

} // namespace asmevo::profile
