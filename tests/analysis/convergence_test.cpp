#include "analysis/convergence.h"

#include "assemble.h"

namespace asmevo::analysis {
namespace {

std::vector<Finding> findings(const recover::Program& program) {
  return verify_convergence(program, program.functions[0], control_flow(program, program.functions[0]));
}
size_t count(const std::string& text, isa::Processor processor = isa::Processor::gfx942) {
  return findings(assemble(text, processor)).size();
}

/// A barrier that a branch may skip, and one behind it.
std::string skipped(const std::string& condition, const std::string& branch = "s_cbranch_scc1") {
  return condition + "\n" + branch + " join\ns_barrier\njoin:\ns_barrier\ns_endpgm";
}

TEST(Convergence, a_barrier_that_some_waves_skip_is_found) {
  EXPECT_EQ(count(skipped("v_cmp_gt_u32 vcc, 64, v0", "s_cbranch_vccz")), 1u);
  EXPECT_EQ(count(skipped("v_cmp_gt_u32 vcc, 64, v0\ns_and_saveexec_b64 s[4:5], vcc", "s_cbranch_execz")), 1u);
  EXPECT_EQ(count(skipped("v_lshrrev_b32 v1, 6, v0\nv_readfirstlane_b32 s4, v1\ns_cmp_eq_u32 s4, 0")), 1u);
  EXPECT_EQ(count(skipped("global_load_dword v2, v0, s[2:3]\ns_waitcnt vmcnt(0)\nv_cmp_eq_u32 vcc, 0, v2",
                          "s_cbranch_vccnz")),
            1u);
}

TEST(Convergence, it_names_the_barrier_and_the_branch) {
  const auto program = assemble(skipped("v_cmp_gt_u32 vcc, 64, v0", "s_cbranch_vccz"));
  const auto found = findings(program);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "R012");
  EXPECT_EQ(program.items[found[0].item].text, "s_barrier");
  EXPECT_EQ(found[0].item, 2u);
  EXPECT_EQ(found[0].cause, 1u);
}

TEST(Convergence, a_condition_that_all_waves_share_is_fine) {
  EXPECT_EQ(count(skipped("s_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s4, 0")), 0u);
  EXPECT_EQ(count(skipped("s_cmp_eq_u32 s8, 0")), 0u);
  // Loaded from one address, as what one wave left for all.
  EXPECT_EQ(count(skipped("v_mov_b32 v1, 0\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nv_cmp_eq_u32 vcc, 0, v2\n"
                          "s_and_b64 vcc, exec, vcc",
                          "s_cbranch_vccnz")),
            0u);
}

TEST(Convergence, lane_numbers_are_the_same_in_all_waves) {
  EXPECT_EQ(count(skipped("v_and_b32 v1, 63, v0\nv_cmp_gt_u32 vcc, 8, v1", "s_cbranch_vccz")), 0u);
  EXPECT_EQ(count(skipped("v_bfe_u32 v1, v0, 0, 6\nv_cmp_gt_u32 vcc, 8, v1", "s_cbranch_vccz")), 0u);
  EXPECT_EQ(count(skipped("v_mbcnt_lo_u32_b32 v1, -1, 0\nv_cmp_gt_u32 vcc, 8, v1", "s_cbranch_vccz")), 0u);
  EXPECT_EQ(count(skipped("v_bfe_u32 v1, v0, 10, 10\nv_cmp_gt_u32 vcc, 8, v1", "s_cbranch_vccz")), 1u);
}

TEST(Convergence, exec_is_the_same_again_once_a_branch_is_over) {
  EXPECT_EQ(
      count("v_cmp_gt_u32 vcc, 64, v0\ns_and_saveexec_b64 s[4:5], vcc\ns_cbranch_execz done\nv_mov_b32 v1, 0\n"
            "done:\ns_or_b64 exec, exec, s[4:5]\n" +
            skipped("v_mov_b32 v3, s8\nv_cmp_eq_u32 vcc, 0, v3\ns_and_saveexec_b64 s[4:5], vcc", "s_cbranch_execz")),
      0u);
}

TEST(Convergence, both_ways_may_have_barriers) {
  const std::string wave = "v_readfirstlane_b32 s4, v0\ns_cmp_lt_u32 s4, 0x80\ns_cbranch_scc1 other\n";
  EXPECT_EQ(count(wave + "s_barrier\ns_branch join\nother:\ns_barrier\njoin:\ns_barrier\ns_endpgm"), 0u);
  EXPECT_EQ(count(wave + "s_barrier\ns_barrier\ns_branch join\nother:\ns_barrier\njoin:\ns_barrier\ns_endpgm"), 1u);
}

TEST(Convergence, a_loop_may_count_from_a_work_item_id) {
  const std::string loop = "l:\nv_subrev_u32 v0, 64, v0\ns_barrier\n";
  EXPECT_EQ(count(loop + "v_cmp_lt_i32 vcc, 0, v0\ns_cbranch_vccnz l\ns_barrier\ns_endpgm"), 0u);
  EXPECT_EQ(count("v_cmp_gt_u32 vcc, 64, v0\ns_cbranch_vccz none\n" + loop +
                  "v_cmp_lt_i32 vcc, 0, v0\ns_cbranch_vccnz l\nnone:\ns_barrier\ns_endpgm"),
            0u);
  // A branch within one iteration is judged.
  EXPECT_EQ(count("l:\nv_cmp_gt_u32 vcc, 64, v0\ns_cbranch_vccz skip\ns_barrier\nskip:\ns_sub_u32 s8, s8, 1\n"
                  "s_cmp_lg_u32 s8, 0\ns_cbranch_scc1 l\ns_barrier\ns_endpgm"),
            1u);
}

TEST(Convergence, waves_that_end_are_not_waited_for) {
  EXPECT_EQ(count("v_cmp_gt_u32 vcc, 64, v0\ns_cbranch_vccz out\ns_barrier\nout:\ns_endpgm"), 0u);
  EXPECT_EQ(count("v_cmp_gt_u32 vcc, 64, v0\ns_cbranch_vccnz on\ns_endpgm\non:\ns_barrier\ns_endpgm"), 0u);
}

TEST(Convergence, a_schedule_that_lets_half_of_the_waves_run_ahead_is_fine) {
  EXPECT_EQ(
      count("v_readfirstlane_b32 s4, v0\ns_cmp_lt_u32 s4, 0x100\ns_cbranch_scc1 a\ns_barrier\na:\nv_mov_b32 v1, 0\n"
            "s_barrier\ns_cmp_ge_u32 s4, 0x100\ns_cbranch_scc1 b\ns_barrier\nb:\ns_barrier\ns_endpgm"),
      0u);
}

TEST(Convergence, a_workgroup_of_one_wave_is_exempt) {
  auto program = assemble(skipped("v_cmp_gt_u32 vcc, 8, v0", "s_cbranch_vccz"));
  const auto of_size = [&](uint32_t size) {
    auto object = std::make_shared<object::CodeObject>();
    object::Kernel kernel;
    kernel.metadata.emplace();
    kernel.metadata->max_flat_workgroup_size = size;
    object->kernels.push_back(kernel);
    program.origin = object;
    return findings(program).size();
  };
  EXPECT_EQ(of_size(64), 0u);
  EXPECT_EQ(of_size(256), 1u);
}

TEST(Convergence, only_packed_targets_have_all_work_item_ids_in_one_register) {
  const std::string text = skipped("v_cmp_gt_u32 vcc, 8, v1", "s_cbranch_vccz");
  for (const auto processor : {isa::Processor::gfx908, isa::Processor::gfx942}) {
    auto program = assemble(text, processor);
    auto object = std::make_shared<object::CodeObject>();
    object::Kernel kernel;
    kernel.descriptor.raw[53] = 1 << 3; // compute_pgm_rsrc2: work-item ids x and y
    object->kernels.push_back(kernel);
    program.origin = object;
    EXPECT_EQ(findings(program).size(), processor == isa::Processor::gfx908 ? 1u : 0u);
  }
}

} // namespace
} // namespace asmevo::analysis
