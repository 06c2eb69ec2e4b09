#include "analysis/restoration.h"

#include "assemble.h"

namespace asmevo::analysis {
namespace {

std::vector<Finding> findings(const std::string& text, int kernel = -1) {
  const auto program = assemble(text, isa::Processor::gfx942, kernel);
  return verify_restored_exec(program, program.functions[0], control_flow(program, program.functions[0]));
}
size_t count(const std::string& text) { return findings(text + "\ns_setpc_b64 s[30:31]").size(); }

const std::string narrowed = "v_cmp_gt_u32 vcc, 64, v0\ns_and_saveexec_b64 s[4:5], vcc\n";

TEST(RestoredExec, a_return_with_fewer_lanes_is_found) {
  EXPECT_EQ(count(narrowed), 1u);
  EXPECT_EQ(count("v_cmpx_gt_u32 exec, 64, v0"), 1u);
  EXPECT_EQ(count("v_cmp_gt_u32 vcc, 64, v0\ns_and_b64 exec, exec, vcc"), 1u);
  EXPECT_EQ(count("s_mov_b64 exec, 1"), 1u);
}

TEST(RestoredExec, a_mask_that_is_written_back_is_fine) {
  EXPECT_EQ(count(narrowed + "v_mov_b32 v1, 0\ns_or_b64 exec, exec, s[4:5]"), 0u);
  EXPECT_EQ(count(narrowed + "s_mov_b64 s[8:9], s[4:5]\ns_mov_b64 exec, s[8:9]"), 0u);
  EXPECT_EQ(count(narrowed + "s_xor_b64 s[4:5], exec, s[4:5]\ns_or_saveexec_b64 s[4:5], s[4:5]\n"
                             "s_xor_b64 exec, exec, s[4:5]\ns_or_b64 exec, exec, s[4:5]"),
            0u);
}

TEST(RestoredExec, the_inner_mask_does_not_restore_the_outer_one) {
  const std::string nested = narrowed + "v_cmp_gt_u32 vcc, 8, v0\ns_and_saveexec_b64 s[6:7], vcc\nv_mov_b32 v1, 0\n";
  EXPECT_EQ(count(nested + "s_mov_b64 exec, s[6:7]"), 1u);
  EXPECT_EQ(count(nested + "s_or_b64 exec, exec, s[4:5]"), 0u);
}

TEST(RestoredExec, one_path_that_forgets_it_is_enough) {
  EXPECT_EQ(count(narrowed + "s_cbranch_scc1 out\ns_or_b64 exec, exec, s[4:5]\nout:"), 1u);
  EXPECT_EQ(count(narrowed + "s_cbranch_execz out\nv_mov_b32 v1, 0\nout:\ns_or_b64 exec, exec, s[4:5]"), 0u);
}

TEST(RestoredExec, all_lanes_switched_on_is_another_mask_too) {
  EXPECT_EQ(count("s_or_saveexec_b64 s[4:5], -1\nv_mov_b32 v40, v1\ns_mov_b64 exec, s[4:5]"), 0u);
  const auto found = findings("s_or_saveexec_b64 s[4:5], -1\nv_mov_b32 v40, v1\ns_setpc_b64 s[30:31]");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("more lanes"), std::string::npos) << found[0].message;
  EXPECT_EQ(found[0].cause, 0u);
}

TEST(RestoredExec, what_is_not_followed_is_not_reported) {
  // Accumulated masks of a loop, and a mask that was kept in a lane of a VGPR.
  EXPECT_EQ(count("s_mov_b64 s[4:5], 0\nl:\nv_cmp_gt_u32 vcc, 64, v0\ns_or_b64 s[4:5], vcc, s[4:5]\n"
                  "s_andn2_b64 exec, exec, s[4:5]\ns_cbranch_execnz l\ns_or_b64 exec, exec, s[4:5]"),
            0u);
  EXPECT_EQ(count(narrowed + "v_writelane_b32 v40, s4, 0\nv_writelane_b32 v40, s5, 1\nv_readlane_b32 s8, v40, 0\n"
                             "v_readlane_b32 s9, v40, 1\ns_mov_b64 exec, s[8:9]"),
            0u);
}

TEST(RestoredExec, kernels_may_end_with_lanes_off) { EXPECT_EQ(findings(narrowed + "s_endpgm", 0).size(), 0u); }

} // namespace
} // namespace asmevo::analysis
