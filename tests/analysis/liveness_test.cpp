#include "analysis/liveness.h"

#include "analysis/exec.h"
#include "assemble.h"

namespace asmevo::analysis {
namespace {

Liveness live(const recover::Program& program) {
  return liveness(program, program.functions[0], control_flow(program, program.functions[0]));
}
bool before(const Liveness& live, size_t item, isa::File file, uint16_t index) {
  return live.before[item].test(bit_of(file, index));
}
using enum isa::File;

TEST(Liveness, a_register_is_live_from_its_write_to_its_last_read) {
  const auto l = live(assemble("s_mov_b32 s4, 1\ns_nop 0\ns_add_u32 s5, s4, s4\ns_nop 0\ns_endpgm"));
  EXPECT_FALSE(before(l, 0, sgpr, 4));
  EXPECT_TRUE(before(l, 1, sgpr, 4));
  EXPECT_TRUE(before(l, 2, sgpr, 4));
  EXPECT_FALSE(before(l, 3, sgpr, 4));
}

TEST(Liveness, a_loop_keeps_alive_what_its_next_round_reads) {
  const auto l = live(assemble("s_mov_b32 s4, 0\nloop:\ns_add_u32 s4, s4, 1\ns_cbranch_scc1 loop\ns_endpgm"));
  EXPECT_TRUE(before(l, 3, sgpr, 4));
  EXPECT_FALSE(before(l, 4, sgpr, 4));
}

TEST(Liveness, a_vector_write_under_full_exec_kills) {
  const auto l = live(assemble("v_mov_b32 v1, 0\nv_add_f32 v2, v1, v1\ns_endpgm"));
  EXPECT_FALSE(before(l, 0, vgpr, 1));
}

TEST(Liveness, a_vector_write_under_a_narrowed_exec_does_not_kill) {
  const auto l = live(assemble(R"(
    s_and_saveexec_b64 s[4:5], vcc
    v_mov_b32 v1, 0
    s_or_b64 exec, exec, s[4:5]
    v_add_f32 v2, v1, v1
    s_endpgm)"));
  EXPECT_TRUE(before(l, 0, vgpr, 1));
}

TEST(Liveness, scalar_results_of_vector_instructions_do_not_depend_on_exec) {
  const auto l = live(assemble(R"(
    s_and_saveexec_b64 s[4:5], vcc
    v_readfirstlane_b32 s8, v0
    s_add_u32 s9, s8, s8
    s_endpgm)"));
  EXPECT_FALSE(before(l, 0, sgpr, 8));
}

TEST(Liveness, writing_half_a_register_keeps_the_other_half_alive) {
  const auto l = live(assemble("ds_read_u16_d16_hi v1, v0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, v1\ns_endpgm"));
  EXPECT_TRUE(before(l, 0, vgpr, 1));
}

Liveness wanted(const recover::Program& program) {
  return liveness(program, program.functions[0], control_flow(program, program.functions[0]), Readers::wanted);
}
/// Whether anything wants what the item writes to the register.
bool is_wanted(const Liveness& live, size_t item, isa::File file, uint16_t index) {
  return live.after[item].test(bit_of(file, index));
}

TEST(WantedRegisters, what_only_goes_round_is_not_wanted) {
  const auto program = assemble("loop:\nv_add_f32 v1, v1, v2\nv_mul_f32 v2, v1, v1\ns_cbranch_scc1 loop\n"
                                "global_store_dword v[4:5], v3, off\ns_endpgm");
  EXPECT_TRUE(is_wanted(live(program), 1, vgpr, 1));
  EXPECT_FALSE(is_wanted(wanted(program), 1, vgpr, 1));
  EXPECT_FALSE(is_wanted(wanted(program), 2, vgpr, 2));
  EXPECT_TRUE(is_wanted(wanted(program), 2, vgpr, 3));
}

TEST(WantedRegisters, a_read_sees_what_was_written_under_the_same_exec_and_nothing_before) {
  const std::string text = "s_and_saveexec_b64 s[4:5], vcc\nv_mul_f32 v1, v2, v2\nv_mov_b32 v1, v3\n";
  const std::string store = "global_store_dword v[4:5], v1, off\ns_endpgm";
  const auto same = assemble(text + store);
  EXPECT_TRUE(is_wanted(live(same), 1, vgpr, 1));
  EXPECT_FALSE(is_wanted(wanted(same), 1, vgpr, 1));
  // With other lanes behind it, or read from other lanes, it is.
  EXPECT_TRUE(is_wanted(wanted(assemble(text + "s_or_b64 exec, exec, s[4:5]\n" + store)), 1, vgpr, 1));
  EXPECT_TRUE(is_wanted(wanted(assemble(text + "v_mov_b32_dpp v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n" + store)),
                        1, vgpr, 1));
  EXPECT_TRUE(is_wanted(wanted(assemble(text + "v_readlane_b32 s6, v1, 3\nv_mov_b32 v1, s6\n" + store)), 1, vgpr, 1));
  EXPECT_TRUE(is_wanted(wanted(assemble(text + "ds_bpermute_b32 v1, v6, v1\n" + store)), 1, vgpr, 1));
}

TEST(WantedRegisters, a_part_that_is_written_keeps_the_rest) {
  EXPECT_TRUE(
      is_wanted(wanted(assemble("s_and_saveexec_b64 s[4:5], vcc\nv_mul_f32 v1, v2, v2\nv_writelane_b32 v1, s6, 3\n"
                                "global_store_dword v[4:5], v1, off\ns_endpgm")),
                1, vgpr, 1));
}

TEST(FullExec, is_followed_through_save_and_restore) {
  const auto program = assemble(R"(
    s_and_saveexec_b64 s[4:5], vcc
    s_cbranch_execz join
    v_mov_b32 v1, 0
  join:
    s_or_b64 exec, exec, s[4:5]
    v_mov_b32 v2, 0
    s_endpgm)");
  const auto full = full_exec(program, program.functions[0], control_flow(program, program.functions[0]));
  EXPECT_TRUE(full[0]);
  EXPECT_FALSE(full[2]);
  EXPECT_FALSE(full[4]);
  EXPECT_TRUE(full[5]);
}

TEST(FullExec, is_lost_when_the_saved_mask_is_overwritten) {
  const auto program = assemble(R"(
    s_and_saveexec_b64 s[4:5], vcc
    s_mov_b32 s5, 0
    s_or_b64 exec, exec, s[4:5]
    v_mov_b32 v2, 0
    s_endpgm)");
  EXPECT_FALSE(full_exec(program, program.functions[0], control_flow(program, program.functions[0]))[3]);
}

TEST(FullExec, all_ones_is_full) {
  const auto program = assemble("s_mov_b64 exec, vcc\ns_mov_b64 exec, -1\nv_mov_b32 v1, 0\ns_endpgm");
  const auto full = full_exec(program, program.functions[0], control_flow(program, program.functions[0]));
  EXPECT_FALSE(full[1]);
  EXPECT_TRUE(full[2]);
}

} // namespace
} // namespace asmevo::analysis
