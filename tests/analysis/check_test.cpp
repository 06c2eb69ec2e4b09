#include "analysis/check.h"

#include "analysis/resources.h"
#include "corpus.h"

#include <ctime>
#include <set>

namespace asmevo::analysis {
namespace {

using isa::Processor;
using recover::Program;

std::string ids(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += (text.empty() ? "" : " ") + finding.rule;
  return text;
}

/// A program with one kernel whose segment of arguments has 16 bytes and whose pointer is in s[0:1].
Program with_kernarg(Program program) {
  auto object = std::make_shared<object::CodeObject>();
  object::Kernel kernel;
  kernel.descriptor.raw[8] = 16;   // kernarg size
  kernel.descriptor.raw[56] = 0x8; // kernarg segment pointer is enabled
  object->kernels.push_back(kernel);
  program.origin = object;
  return program;
}

TEST(Check, registers_above_the_declaration_are_found) {
  auto program = assemble("v_mov_b32 v40, 0\ns_mov_b32 s30, 0\nv_accvgpr_write_b32 a9, v1\ns_endpgm");
  program.declared[0] = {.vgprs = 40, .agprs = 8, .sgprs = 30, .accum_offset = 40};
  EXPECT_EQ(ids(check(program)), "R002 R004 R003");
  program.declared[0] = {.vgprs = 32, .agprs = 4, .sgprs = 32, .accum_offset = 32};
  EXPECT_EQ(ids(check(program)), "R001 R003");
  program.declared[0] = {.vgprs = 44, .agprs = 12, .sgprs = 32, .accum_offset = 44};
  EXPECT_EQ(ids(check(program)), "");
}

TEST(Check, a_device_function_has_what_the_largest_kernel_declares) {
  auto program = assemble("v_mov_b32 v40, 0\ns_mov_b32 s30, 0\nv_accvgpr_write_b32 a9, v1\ns_setpc_b64 s[30:31]");
  program.functions[0].kernel = -1;
  const auto registers = [&] {
    std::string found;
    for (const Finding& finding : check(program))
      if (finding.rule < "R005") found += finding.rule + " ";
    return found;
  };
  program.declared = {{.vgprs = 32, .agprs = 4, .sgprs = 30, .accum_offset = 32},
                      {.vgprs = 24, .agprs = 8, .sgprs = 24, .accum_offset = 24}};
  EXPECT_EQ(registers(), "R001 R004 R003 R004 ");
  program.declared.push_back({.vgprs = 44, .agprs = 12, .sgprs = 32, .accum_offset = 44});
  EXPECT_EQ(registers(), "");
}

TEST(Check, vgprs_may_use_rows_behind_accum_offset_where_no_accumulator_lives) {
  auto program = assemble("v_mov_b32 v40, 0\ns_endpgm");
  program.declared[0] = {.vgprs = 40, .agprs = 8, .sgprs = 32, .accum_offset = 40};
  EXPECT_EQ(ids(check(program)), "");
}

TEST(Check, an_lds_offset_beyond_the_allocation_is_found) {
  auto program = assemble("ds_write_b64 v0, v[2:3] offset:1016\nds_write_b64 v0, v[2:3] offset:1020\ns_endpgm");
  program.declared[0].lds_bytes = 1024;
  const auto findings = check(program);
  ASSERT_EQ(ids(findings), "R005");
  EXPECT_EQ(findings[0].item, 1u);
}

TEST(Check, control_that_runs_off_the_end_is_found) {
  EXPECT_EQ(ids(check(assemble("v_mov_b32 v0, 0"))), "R006");
  EXPECT_EQ(ids(check(assemble("s_cbranch_scc1 a\ns_endpgm\na:\ns_nop 0"))), "R006");
}

TEST(Check, kernel_arguments_are_read_inside_their_segment) {
  EXPECT_EQ(ids(check(with_kernarg(assemble("s_load_dwordx2 s[4:5], s[0:1], 0x8\ns_endpgm")))), "");
  EXPECT_EQ(ids(check(with_kernarg(assemble("s_load_dwordx4 s[4:7], s[0:1], 0x8\ns_endpgm")))), "R007");
  EXPECT_EQ(ids(check(with_kernarg(assemble("s_mov_b64 s[8:9], s[0:1]\ns_load_dword s4, s[8:9], 0x10\ns_endpgm")))),
            "R007");
  EXPECT_EQ(ids(check(with_kernarg(assemble("s_mov_b32 s1, 0\ns_load_dword s4, s[0:1], 0x10\ns_endpgm")))), "");
}

TEST(Check, a_word_that_is_no_instruction_is_found_where_it_is_reached) {
  auto program = assemble("v_mov_b32 v0, 0\ns_endpgm");
  program.items[0].instruction.encoding = isa::Encoding::unknown;
  EXPECT_EQ(ids(check(program)), "R009");
}

TEST(Check, a_branch_to_nowhere_is_found) {
  auto program = assemble("s_branch a\na:\ns_endpgm");
  program.items[0].target = "b";
  EXPECT_EQ(ids(check(program)), "R010");
}

TEST(NewFindings, what_the_original_does_too_is_not_new) {
  const auto original = assemble("global_load_dword v2, v[0:1], off\nv_mov_b32 v3, v2\ns_endpgm");
  const auto moved = assemble("s_nop 0\nglobal_load_dword v2, v[0:1], off\nv_mov_b32 v3, v2\ns_endpgm");
  EXPECT_EQ(ids(new_findings(original, moved)), "");
}

TEST(NewFindings, doing_it_once_more_is_new) {
  const auto original = assemble("global_load_dword v2, v[0:1], off\nv_mov_b32 v3, v2\ns_endpgm");
  const auto twice = assemble("global_load_dword v2, v[0:1], off\nv_mov_b32 v3, v2\nv_mov_b32 v4, v2\ns_endpgm");
  EXPECT_EQ(ids(new_findings(original, twice)), "W001");
}

TEST(NewFindings, a_clock_or_a_mode_change_that_the_original_lacks_is_new) {
  const auto original = assemble("s_memtime s[4:5]\ns_endpgm");
  EXPECT_EQ(ids(new_findings(original, original)), "");
  EXPECT_EQ(ids(new_findings(original, assemble("s_memtime s[4:5]\ns_memtime s[6:7]\ns_endpgm"))), "R008");
  EXPECT_EQ(ids(new_findings(original, assemble("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\ns_endpgm"))), "R008");
  EXPECT_FALSE(restriction("s_trap").empty());
  EXPECT_TRUE(restriction("v_add_f32").empty());
}

// ---- real kernels ----

TEST(Check, compiled_kernels_have_no_findings) {
  auto paths = objects_in("triton");
  if (paths.empty()) GTEST_SKIP() << "no " << data_folder() << "/triton: set ASMEVO_DATA";
  for (const std::string& path : objects_in("mi300a")) paths.push_back(path);
  for (const auto& entry : std::filesystem::directory_iterator(ASMEVO_SOURCE_DIR "/corpus"))
    if (entry.path().extension() == ".hsaco") paths.push_back(entry.path());
  for (const std::string& path : paths) {
    const auto program = recover_file(path);
    ASSERT_TRUE(program.has_value()) << path;
    for (const Finding& finding : check(*program))
      ADD_FAILURE() << path << ": " << finding.rule << " " << finding.message;
  }
}

TEST(Check, a_kernel_of_five_thousand_instructions_takes_less_than_a_tenth_of_a_second) {
  std::string text;
  for (int block = 0; block < 100; ++block) {
    text += fmt::format("l{}:\n", block);
    for (int i = 0; i < 12; ++i) {
      const int v = 4 + (block + i) % 40;
      text += fmt::format("global_load_dword v{}, v[0:1], off offset:{}\ns_waitcnt vmcnt(0)\nv_add_f32 v{}, v{}, v{}\n"
                          "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]\n",
                          v, i * 4, v + 1, v, v);
    }
    text += fmt::format("s_cbranch_scc1 l{}\n", block / 2);
  }
  text += "s_endpgm\n";
  const auto program = assemble(text);
  ASSERT_GT(program.items.size(), 5000u);
  // Processor time: what others do on the machine is not the gate's doing.
  const std::clock_t start = std::clock();
  check(program);
  const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(took, 0.1);
}

} // namespace
} // namespace asmevo::analysis
