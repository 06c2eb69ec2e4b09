#include "analysis/hazards.h"

#include "corpus.h"

#include <fstream>

namespace asmevo::analysis {
namespace {

using isa::Processor;

std::vector<Finding> verify(const recover::Program& program) {
  const auto& function = program.functions[0];
  return verify_hazards(program, function, control_flow(program, function));
}

std::string rules(const std::string& text, Processor processor = Processor::gfx942) {
  std::string result;
  for (const Finding& finding : verify(assemble(text, processor))) result += (result.empty() ? "" : " ") + finding.rule;
  return result;
}

std::vector<int> nops(const std::string& text, Processor processor = Processor::gfx942) {
  const auto program = assemble(text, processor);
  const auto& function = program.functions[0];
  const auto needed = needed_nops(program, function, control_flow(program, function), 0, function.last);
  return {needed.begin(), needed.end()};
}

unsigned required(const std::string& producer, const std::string& consumer, Processor processor) {
  const auto program = assemble(producer + "\n" + consumer, processor);
  return required_wait_states(program.items[0].instruction, program.items[1].instruction, program.target);
}

TEST(Hazards, s_nop_counts_its_immediate_and_one) {
  EXPECT_EQ(rules("v_readfirstlane_b32 s4, v0\ns_nop 3\nbuffer_load_dword v1, off, s[4:7], 0\ns_endpgm"), "H001");
  EXPECT_EQ(rules("v_readfirstlane_b32 s4, v0\ns_nop 4\nbuffer_load_dword v1, off, s[4:7], 0\ns_endpgm"), "");
}

TEST(Hazards, any_instruction_between_counts_one) {
  EXPECT_EQ(rules("v_readfirstlane_b32 s4, v0\nv_nop\ns_mov_b32 s9, 0\nv_mov_b32 v3, 0\ns_nop 1\n"
                  "buffer_load_dword v1, off, s[4:7], 0\ns_endpgm"),
            "");
}

TEST(Hazards, the_shortest_path_decides) {
  const std::string text = R"(
    v_readfirstlane_b32 s4, v0
    s_cbranch_scc1 short
    s_nop 7
  short:
    s_nop {}
    buffer_load_dword v1, off, s[4:7], 0
    s_endpgm)";
  EXPECT_EQ(rules(fmt::format(fmt::runtime(text), 2)), "H001");
  EXPECT_EQ(rules(fmt::format(fmt::runtime(text), 3)), "");
}

TEST(Hazards, a_loop_carries_producers_over_its_back_edge) {
  EXPECT_EQ(rules(R"(
  loop:
    buffer_load_dword v1, off, s[4:7], 0
    v_readfirstlane_b32 s4, v0
    s_cbranch_scc1 loop
    s_endpgm)"),
            "H001");
}

TEST(Hazards, needed_nops_make_a_sequence_clean_and_no_more) {
  EXPECT_EQ(nops("v_readfirstlane_b32 s4, v0\ns_mov_b32 s9, 0\nbuffer_load_dword v1, off, s[4:7], 0\ns_endpgm"),
            (std::vector<int>{0, 0, 4, 0}));
  EXPECT_EQ(nops("v_exp_f32 v0, v1\nv_add_f32 v2, v0, v0\nv_add_f32 v3, v0, v0\ns_endpgm"),
            (std::vector<int>{0, 1, 0, 0}));
}

// LLVM issue 202333, pull request 197267: the data of a wide store overwritten one or two states too early.
TEST(Hazards, wide_store_data_lives_a_little_longer_than_the_store) {
  const std::string store = "global_store_dwordx4 v[0:1], v[4:7], off", write = "v_pk_mul_f32 v[6:7], v[8:9], v[8:9]";
  EXPECT_EQ(required(store, write, Processor::gfx942), 2u);
  EXPECT_EQ(required(store, write, Processor::gfx950), 2u);
  EXPECT_EQ(required(store, "v_mov_b32 v4, 0", Processor::gfx908), 1u);
  EXPECT_EQ(required("global_store_dwordx2 v[0:1], v[4:5], off", "v_mov_b32 v4, 0", Processor::gfx942), 0u);
  EXPECT_EQ(required(store, "v_mov_b32 v8, 0", Processor::gfx942), 0u);
  const std::string scalar_offset = "buffer_store_dwordx4 v[4:7], v0, s[0:3], s8 offen";
  EXPECT_EQ(required(scalar_offset, write, Processor::gfx950), 1u);
  EXPECT_EQ(required(scalar_offset, "v_mov_b32 v4, 0", Processor::gfx90a), 0u);
  EXPECT_EQ(required("buffer_store_dwordx4 v[4:7], v0, s[0:3], 0 offen", write, Processor::gfx950), 2u);
}

TEST(Hazards, wide_store_data_is_followed_through_a_masked_block) {
  EXPECT_EQ(rules(R"(
    s_and_saveexec_b64 s[4:5], vcc
    s_cbranch_execz skip
    global_store_dwordx4 v[0:1], v[4:7], off
  skip:
    s_or_b64 exec, exec, s[4:5]
    v_pk_mul_f32 v[6:7], v[8:9], v[8:9]
    s_endpgm)"),
            "H011");
}

TEST(Hazards, a_result_written_again_as_a_whole_no_longer_counts) {
  // The short second instruction is what the reader waits for.
  EXPECT_EQ(rules(R"(
    v_mfma_f32_32x32x8_f16 v[16:31], v[0:1], v[2:3], 0
    v_mfma_f32_32x32x8_f16 v[16:31], v[0:1], v[2:3], v[16:31]
    s_nop 7
    s_nop 1
    v_mov_b32 v40, v16
    s_endpgm)"),
            "H021");
  EXPECT_EQ(rules(R"(
    v_mfma_f32_32x32x8_f16 v[16:31], v[0:1], v[2:3], 0
    v_mfma_f32_32x32x8_f16 v[16:31], v[0:1], v[2:3], v[16:31]
    s_nop 7
    s_nop 2
    v_mov_b32 v40, v16
    s_endpgm)"),
            "");
}

TEST(Hazards, accumulator_rows_named_as_vgprs_are_the_same_registers) {
  const std::string text = "v_mfma_f32_4x4x4_16b_f16 a[0:3], v[0:1], v[2:3], 0\nv_mov_b32 v4, v65\ns_endpgm";
  auto program = assemble(text);
  program.declared[0].accum_offset = 64;
  EXPECT_EQ(verify(program).size(), 1u);
  program.declared[0].accum_offset = 128;
  EXPECT_EQ(verify(program).size(), 0u);
}

TEST(Hazards, loads_that_may_be_replayed_must_not_overwrite_their_addresses) {
  auto program = assemble("s_load_dword s8, s[0:1], 0x0\ns_load_dwordx2 s[0:1], s[2:3], 0x8\ns_endpgm");
  program.target.xnack = isa::Feature::on;
  ASSERT_EQ(verify(program).size(), 1u);
  EXPECT_EQ(verify(program)[0].rule, "H031");
  program.target.xnack = isa::Feature::off;
  EXPECT_TRUE(verify(program).empty());
}

TEST(Hazards, matrix_passes_follow_the_shape) {
  EXPECT_EQ(matrix_passes("v_mfma_f32_16x16x16f16", Processor::gfx90a, false), 8);
  EXPECT_EQ(matrix_passes("v_mfma_f32_16x16x16_f16", Processor::gfx942, false), 4);
  EXPECT_EQ(matrix_passes("v_mfma_f32_32x32x4_2b_f16", Processor::gfx942, false), 16);
  EXPECT_EQ(matrix_passes("v_mfma_f32_16x16x4_f32", Processor::gfx942, false), 8);
  EXPECT_EQ(matrix_passes("v_mfma_f32_16x16x8_xf32", Processor::gfx942, false), 4);
  EXPECT_EQ(matrix_passes("v_mfma_f32_4x4x4_16b_f16", Processor::gfx942, false), 2);
  EXPECT_EQ(matrix_passes("v_mfma_f64_4x4x4_4b_f64", Processor::gfx942, false), 4);
  EXPECT_EQ(matrix_passes("v_mfma_f64_16x16x4_f64", Processor::gfx950, false), 16);
  EXPECT_EQ(matrix_passes("v_smfmac_f32_32x32x16_f16", Processor::gfx942, false), 8);
  EXPECT_EQ(matrix_passes("v_mfma_f32_32x32x64_f8f6f4", Processor::gfx950, true), 16);
  EXPECT_EQ(matrix_passes("v_mfma_f32_32x32x64_f8f6f4", Processor::gfx950, false), 8);
}

// ---- against the table of what LLVM's hazard recogniser pads ----

struct MatrixRow {
  std::string name, a, c; // mnemonic, widths of A/B and of C/D as registers
};
const std::map<std::string, MatrixRow> producers = {
    {"2p f32_4x4x4f16", {"v_mfma_f32_4x4x4f16", "2", "4"}},
    {"4p f32_16x16x16f16", {"v_mfma_f32_16x16x16f16", "2", "4"}},
    {"8p f32_32x32x8f16", {"v_mfma_f32_32x32x8f16", "2", "16"}},
    {"16p f32_32x32x4f16", {"v_mfma_f32_32x32x4f16", "2", "32"}},
    {"S 2p f32_4x4x1f32", {"v_mfma_f32_4x4x1f32", "1", "4"}},
    {"S 8p f32_16x16x4f32", {"v_mfma_f32_16x16x4f32", "1", "4"}},
    {"S 16p f32_32x32x2f32", {"v_mfma_f32_32x32x2f32", "1", "16"}},
    {"D f64_16x16x4", {"v_mfma_f64_16x16x4f64", "2", "8"}},
    {"D f64_4x4x4", {"v_mfma_f64_4x4x4f64", "2", "2"}},
    {"gfx950 f32_16x16x32_f16", {"v_mfma_f32_16x16x32_f16", "4", "4"}},
    {"gfx950 f32_32x32x16_f16", {"v_mfma_f32_32x32x16_f16", "4", "16"}},
};

std::string tuple(int first, int count) {
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}
/// D at v64, A at v0, B at v8; C at v128 unless said.
std::string matrix(const MatrixRow& row, int d = 64, int a = 0, int c = 128) {
  const int width = std::stoi(row.a), result = std::stoi(row.c);
  return fmt::format("{} {}, {}, {}, {}", row.name, tuple(d, result), tuple(a, width), tuple(8, width),
                     tuple(c, result));
}

TEST(Hazards, matrix_rules_agree_with_the_table_of_llvm_22) {
  std::ifstream file(data_folder() + "/tables/hazards_llvm22.csv");
  if (!file) GTEST_SKIP() << "no " << data_folder() << "/tables/hazards_llvm22.csv: set ASMEVO_DATA";
  std::string line;
  std::getline(file, line);
  unsigned compared = 0;
  while (std::getline(file, line)) {
    std::vector<std::string> cell;
    std::istringstream cells(line);
    for (std::string text; std::getline(cells, text, ',');) cell.push_back(text);
    const auto processor = isa::processor_from_name(cell[0]);
    ASSERT_TRUE(processor.has_value()) << line;
    const bool gfx950_only = cell[1].starts_with("gfx950");
    if (gfx950_only && *processor != Processor::gfx950) continue;
    const MatrixRow& row = producers.at(cell[1]);
    const bool wide = std::stoi(row.c) > 4;
    const std::string producer = matrix(row);
    const MatrixRow xdl{"v_mfma_f32_16x16x16f16", "2", "4"}, f64{"v_mfma_f64_16x16x4f64", "2", "8"};
    const std::vector<std::pair<std::string, std::string>> consumers = {
        {"valu_read", "v_mov_b32 v200, v64"},
        {"vmem_read", "global_store_dword v[200:201], v64, off"},
        {"lds_read", "ds_write_b32 v200, v64"},
        {"valu_waw", "v_mov_b32 v64, 0"},
        {"valu_war_srcC", "v_mov_b32 v128, 0"},
        {"same_op_srcC_same", matrix(row, 64, 0, 64)},
        {"xdl16x16x16_srcC_ovl", matrix(xdl, 180, 0, wide ? 68 : 66)},
        {"f64_srcC_ovl", matrix(f64, 180, 0, 62)},
        {"xdl_srcA", matrix(xdl, 180, 64, 192)},
        {"f64_srcA", matrix(f64, 180, 64, 192)},
    };
    for (size_t i = 0; i < consumers.size(); ++i) {
      if (cell[i + 2] == "-") continue;
      if (consumers[i].first == "xdl16x16x16_srcC_ovl" && row.c == "2") continue;
      EXPECT_EQ(std::to_string(required(producer, consumers[i].second, *processor)), cell[i + 2])
          << line << "\n"
          << consumers[i].first << ": " << producer << " -> " << consumers[i].second;
      ++compared;
    }
  }
  EXPECT_GT(compared, 250u);
}

} // namespace
} // namespace asmevo::analysis
