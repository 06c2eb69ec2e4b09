#include "isa/mfma.h"

#include "isa/codec.h"
#include "isa/objects.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace asmevo::isa {
namespace {

Instruction decoded(Processor processor, std::string_view text) {
  const auto codec = Codec::create({.processor = processor});
  const auto bytes = codec->assemble(text);
  EXPECT_TRUE(bytes) << text << ": " << bytes.error().message;
  return bytes ? codec->decode(*bytes, 0) : Instruction{};
}

TEST(Mfma, RegisterCountsFollowFromShapeAndTypes) {
  const MatrixOp* dense = matrix_op("v_mfma_f32_32x32x4_2b_f16");
  ASSERT_TRUE(dense);
  EXPECT_EQ(dense->a_registers(), 2u);
  EXPECT_EQ(dense->b_registers(), 2u);
  EXPECT_EQ(dense->c_registers(), 32u);
  const MatrixOp* sparse = matrix_op("v_smfmac_f32_16x16x32_bf16");
  ASSERT_TRUE(sparse);
  EXPECT_EQ(sparse->a_registers(), 2u);
  EXPECT_EQ(sparse->b_registers(), 4u);
}

TEST(Mfma, OtherMnemonicsAreNoMatrixInstructions) { EXPECT_EQ(matrix_op("v_fma_f32"), nullptr); }

TEST(Mfma, AScaledInstructionIsTheOperationItScales) {
  EXPECT_EQ(matrix_op("v_mfma_scale_f32_16x16x128_f8f6f4"), matrix_op("v_mfma_f32_16x16x128_f8f6f4"));
}

TEST(Mfma, OperandTuplesOfDecodedInstructionsHaveTheTablesSizes) {
  const Instruction i = decoded(Processor::gfx942, "v_mfma_i32_32x32x16_i8 a[0:15], v[0:1], v[2:3], a[0:15]");
  const MatrixOp* op = matrix_op(name_of(i));
  ASSERT_TRUE(op);
  EXPECT_EQ(i.uses[0].count, op->a_registers());
  EXPECT_EQ(i.uses[1].count, op->b_registers());
  EXPECT_EQ(i.uses[2].count, op->c_registers());
  EXPECT_EQ(i.defs[0].count, op->c_registers());
}

TEST(Mfma, EightBitOperandsDoubleThePassesOfF8f6f4) {
  const Instruction eight =
      decoded(Processor::gfx950, "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[20:23]");
  const Instruction four =
      decoded(Processor::gfx950, "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[12:15], v[20:23] cbsz:4 blgp:4");
  EXPECT_EQ(matrix_passes(eight, Processor::gfx950), 8u);
  EXPECT_EQ(matrix_passes(four, Processor::gfx950), 4u);
  EXPECT_EQ(matrix_types(four, *matrix_op(name_of(four))).a, MatrixType::fp4);
}

TEST(Mfma, SinglePrecisionBlocksTheValuFromGfx942On) {
  const MatrixOp* op = matrix_op("v_mfma_f32_16x16x4_f32");
  EXPECT_EQ(coexecution_cycles(*op, op->passes(Processor::gfx942), Processor::gfx942), 0u);
  const MatrixOp* older = matrix_op("v_mfma_f32_16x16x4f32");
  EXPECT_EQ(coexecution_cycles(*older, older->passes(Processor::gfx90a), Processor::gfx90a), 28u);
  EXPECT_EQ(coexecution_cycles(*older, older->passes(Processor::gfx908), Processor::gfx908), 24u);
}

TEST(Mfma, DoublePrecisionTakesTwiceAsLongOnGfx950) {
  const MatrixOp* op = matrix_op("v_mfma_f64_16x16x4_f64");
  EXPECT_EQ(op->passes(Processor::gfx942), 8u);
  EXPECT_EQ(op->passes(Processor::gfx950), 16u);
}

/// Every row of the calculator's table, where the data folder is there.
TEST(Mfma, TheTableAgreesWithTheMatrixCalculator) {
  std::ifstream file(testing::data_folder() / "tables/mfma_calculator.csv");
  if (!file) GTEST_SKIP() << "no tables/mfma_calculator.csv: set ASMEVO_DATA to the data folder";
  std::string line;
  std::getline(file, line);
  int rows = 0;
  while (std::getline(file, line)) {
    std::vector<std::string> cell;
    std::stringstream cells(line);
    for (std::string text; std::getline(cells, text, ',');) cell.push_back(text);
    const auto processor = cell[0] == "cdna1"   ? Processor::gfx908
                           : cell[0] == "cdna2" ? Processor::gfx90a
                                                : Processor::gfx942;
    const MatrixOp* op = matrix_op(cell[1]);
    ASSERT_TRUE(op) << cell[1];
    EXPECT_EQ(op->passes(processor), std::stoul(cell[8])) << line;
    EXPECT_EQ(op->a_registers(), std::stoul(cell[12])) << line;
    EXPECT_EQ(op->b_registers(), std::stoul(cell[13])) << line;
    EXPECT_EQ(op->c_registers(), std::stoul(cell[15])) << line;
    const unsigned shared = cell[11].empty() ? 0 : std::stoul(cell[11]);
    EXPECT_EQ(coexecution_cycles(*op, op->passes(processor), processor), shared) << line;
    ++rows;
  }
  EXPECT_GT(rows, 90);
}

} // namespace
} // namespace asmevo::isa
