#include "analysis/diamonds.h"

#include "analysis/exec.h"
#include "analysis/liveness.h"
#include "assemble.h"

namespace asmevo::analysis {
namespace {

const std::string plain = R"(
    s_and_saveexec_b64 s[4:5], vcc
    s_xor_b64 s[4:5], exec, s[4:5]
    s_cbranch_execz other
    v_add_f32 v1, v0, v0
    v_mul_f32 v2, v1, v1
  other:
    s_andn2_saveexec_b64 s[4:5], s[4:5]
    s_cbranch_execz join
    v_mul_f32 v2, v0, v0
  join:
    s_or_b64 exec, exec, s[4:5]
    global_store_dword v3, v2, s[0:1]
    s_endpgm)";
// Arms elsewhere, and copies of what stands between and behind them.
const std::string apart = R"(
    s_and_saveexec_b64 s[4:5], vcc
    s_xor_b64 s[4:5], exec, s[4:5]
    s_cbranch_execnz first
  other:
    s_andn2_saveexec_b64 s[6:7], s[4:5]
    s_cbranch_execnz second
  join:
    s_or_b64 exec, exec, s[6:7]
    global_store_dword v3, v2, s[0:1]
    s_endpgm
  first:
    v_add_f32 v1, v0, v0
    v_mul_f32 v2, v1, v1
    s_andn2_saveexec_b64 s[6:7], s[4:5]
    s_cbranch_execz join
  second:
    v_mul_f32 v2, v0, v0
    s_or_b64 exec, exec, s[6:7]
    global_store_dword v3, v2, s[0:1]
    s_endpgm)";
const std::string shared = R"(
    s_and_saveexec_b64 s[4:5], vcc
    s_xor_b64 s[4:5], exec, s[4:5]
    s_cbranch_execz other
    v_add_f32 v1, v0, v0
  other:
    s_or_saveexec_b64 s[4:5], s[4:5]
    v_mov_b32 v2, v1
    s_xor_b64 exec, exec, s[4:5]
    v_mul_f32 v2, v0, v0
    s_or_b64 exec, exec, s[4:5]
    global_store_dword v3, v2, s[0:1]
    s_endpgm)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

std::vector<Diamond> found(const std::string& text) {
  const recover::Program program = assemble(text);
  return diamonds(program, program.functions[0]);
}

TEST(Diamonds, two_arms_and_a_join_are_found) {
  const auto all = found(plain);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].first.size(), 2u);
  EXPECT_EQ(all[0].second.size(), 1u);
  EXPECT_TRUE(all[0].both.empty());
  EXPECT_EQ(all[0].joins.size(), 1u);
}

TEST(Diamonds, branches_may_be_missing) {
  const auto all = found(replaced(replaced(plain, "s_cbranch_execz other", ""), "s_cbranch_execz join", ""));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].first.size(), 2u);
}

TEST(Diamonds, arms_may_be_laid_out_elsewhere) {
  const auto all = found(apart);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].first.size(), 2u);
  EXPECT_EQ(all[0].second.size(), 1u);
  EXPECT_EQ(all[0].joins.size(), 2u);
}

TEST(Diamonds, lanes_of_both_arms_may_do_something_in_between) {
  const auto all = found(shared);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].both.size(), 1u);
}

TEST(Diamonds, the_mask_of_the_second_arm_has_to_be_the_rest) {
  EXPECT_TRUE(found(replaced(plain, "v_add_f32 v1, v0, v0", "s_mov_b64 s[4:5], 0")).empty());
  EXPECT_TRUE(
      found(replaced(plain, "s_andn2_saveexec_b64 s[4:5], s[4:5]", "s_andn2_saveexec_b64 s[4:5], vcc")).empty());
  EXPECT_TRUE(found(replaced(plain, "s_xor_b64 s[4:5], exec, s[4:5]", "s_xor_b64 s[4:5], vcc, s[4:5]")).empty());
  EXPECT_TRUE(found(replaced(plain, "s_or_b64 exec, exec, s[4:5]", "s_or_b64 exec, exec, s[6:7]")).empty());
}

TEST(Diamonds, whoever_skips_the_first_arm_has_to_come_to_the_second) {
  EXPECT_TRUE(found(replaced(plain, "s_cbranch_execz other", "s_cbranch_execz join")).empty());
  EXPECT_TRUE(found(replaced(apart, "s_cbranch_execnz second", "s_cbranch_execnz first")).empty());
}

TEST(Diamonds, arms_with_branches_are_none) {
  EXPECT_TRUE(found(replaced(plain, "v_add_f32 v1, v0, v0", "s_cbranch_scc1 join")).empty());
}

bool live_at_the_beginning(const std::string& text, uint16_t vgpr) {
  const recover::Program program = assemble(text);
  const auto& function = program.functions[0];
  return liveness(program, function, control_flow(program, function)).before[0].test(bit_of(isa::File::vgpr, vgpr));
}

TEST(Liveness, a_register_that_both_arms_write_was_dead_before) {
  for (const std::string& text : {plain, apart, shared}) EXPECT_FALSE(live_at_the_beginning(text, 2));
  EXPECT_TRUE(live_at_the_beginning(plain, 0));
}

TEST(Liveness, what_an_arm_writes_for_itself_was_dead_before) { EXPECT_FALSE(live_at_the_beginning(plain, 1)); }

TEST(Liveness, what_an_arm_writes_for_later_was_live_in_other_lanes) {
  EXPECT_TRUE(live_at_the_beginning(replaced(plain, "v3, v2,", "v3, v1,"), 1));
}

TEST(Liveness, a_register_that_one_arm_writes_was_live) {
  EXPECT_TRUE(live_at_the_beginning(replaced(plain, "v_mul_f32 v2, v0, v0", "v_mul_f32 v4, v0, v0"), 2));
  EXPECT_TRUE(live_at_the_beginning(replaced(plain, "v_mul_f32 v2, v1, v1", "v_mul_f32 v4, v1, v1"), 2));
}

TEST(Liveness, a_register_that_one_arm_reads_first_was_live) {
  EXPECT_TRUE(live_at_the_beginning(replaced(plain, "v_mul_f32 v2, v0, v0", "v_mul_f32 v2, v2, v0"), 2));
  EXPECT_TRUE(live_at_the_beginning(replaced(shared, "v_mov_b32 v2, v1", "v_mov_b32 v4, v2"), 2));
}

TEST(Liveness, lanes_of_the_other_arm_see_what_was_there) {
  EXPECT_TRUE(
      live_at_the_beginning(replaced(plain, "v_mul_f32 v2, v1, v1", "v_mov_b32 v2, v1\nv_readlane_b32 s8, v2, 3"), 2));
}

TEST(Liveness, lanes_beside_the_diamond_keep_what_they_had) {
  EXPECT_TRUE(live_at_the_beginning("s_and_saveexec_b64 s[10:11], s[12:13]\n" +
                                        replaced(plain, "global_store", "s_mov_b64 exec, s[10:11]\nglobal_store"),
                                    2));
}

std::vector<bool> full(const std::string& text) {
  const recover::Program program = assemble(text);
  return full_exec(program, program.functions[0], control_flow(program, program.functions[0]));
}

TEST(Exec, is_full_again_behind_a_diamond) {
  for (const std::string& text : {plain, shared}) {
    const std::vector<bool> all = full(text);
    EXPECT_TRUE(all[all.size() - 2]) << text;  // the store
    EXPECT_FALSE(all[all.size() - 3]) << text; // the join
  }
}

TEST(Exec, is_not_full_behind_a_diamond_that_began_with_less) {
  EXPECT_FALSE(full("s_mov_b64 exec, s[10:11]\n" + plain).end()[-2]);
}

TEST(Exec, is_not_full_where_a_join_has_another_way_in) {
  const std::string other = "s_cbranch_scc0 here\ns_mov_b64 exec, 1\ns_branch join\nhere:\n" + plain;
  EXPECT_FALSE(full(other).end()[-2]);
}

} // namespace
} // namespace asmevo::analysis
