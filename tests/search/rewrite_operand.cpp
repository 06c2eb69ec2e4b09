#include "search/drivers/rewrite/operand.h"

#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::search::rewrite;

namespace {

const char* const lines[] = {
    "s_endpgm",
    "v_add_f32_e32 v0, v1, v2",
    "v_fma_f32 v4, -v4, |v7|, v6 clamp mul:2",
    "global_load_dwordx2 v[2:3], v[0:1], off offset:16 sc0 nt",
    "buffer_load_dword v1, v2, s[4:7], 0 offen offset:4",
    "v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
    "s_waitcnt vmcnt(0) lgkmcnt(0)",
    "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]",
};

} // namespace

TEST(Operand, ParsingAndWritingGiveBackTheLine) {
  for (const char* line : lines) EXPECT_EQ(write_instruction(parse_instruction(line)), line);
}

TEST(Operand, OperandsAndModifiersAreToldApart) {
  InstructionText text = parse_instruction(lines[3]);
  EXPECT_EQ(text.mnemonic, "global_load_dwordx2");
  EXPECT_EQ(text.operands, (std::vector<std::string>{"v[2:3]", "v[0:1]", "off"}));
  EXPECT_EQ(text.modifiers, " offset:16 sc0 nt");
}

TEST(Operand, RegistersAreReadThroughSignsAndBars) {
  EXPECT_EQ(operand_registers("-v4"), (isa::RegisterRange{isa::File::vgpr, 4, 1}));
  EXPECT_EQ(operand_registers("-|v4|"), (isa::RegisterRange{isa::File::vgpr, 4, 1}));
  EXPECT_EQ(operand_registers("sext(v4)"), (isa::RegisterRange{isa::File::vgpr, 4, 1}));
  EXPECT_EQ(operand_registers("s[2:3]"), (isa::RegisterRange{isa::File::sgpr, 2, 2}));
  EXPECT_EQ(operand_registers("a[0:15]"), (isa::RegisterRange{isa::File::agpr, 0, 16}));
  EXPECT_EQ(operand_registers("vcc"), (isa::RegisterRange{isa::File::sgpr, isa::vcc_lo, 2}));
}

TEST(Operand, ConstantsAndKeywordsNameNoRegister) {
  for (const char* operand :
       {"1.0", "-1.0", "0x42800000", "off", "L_3", "vmcnt(0)", "v", "v[3:1]", "scc", "src_shared_base"})
    EXPECT_FALSE(operand_registers(operand)) << operand;
}

TEST(Operand, RenamingKeepsTheDressingAndTheRest) {
  isa::RegisterRange from{isa::File::vgpr, 4, 2}, to{isa::File::vgpr, 20, 2};
  EXPECT_EQ(renamed("-|v5|", from, to), "-|v21|");
  EXPECT_EQ(renamed("sext(v5)", from, to), "sext(v21)");
  EXPECT_EQ(renamed("v[4:5]", from, to), "v[20:21]");
  EXPECT_EQ(renamed("v[4:7]", from, to), "v[4:7]") << "a tuple that only partly lies inside is not renamed";
  EXPECT_EQ(renamed("s4", from, to), "s4");
}

TEST(Operand, NegationTurnsTheSignTwice) {
  EXPECT_EQ(negated("v3"), "-v3");
  EXPECT_EQ(negated(negated("1.0")), "1.0");
}

TEST(Operand, RegisterTextReadsBack) {
  for (const char* operand : {"v4", "v[4:5]", "s[0:3]", "vcc", "exec", "m0", "a7"})
    EXPECT_EQ(register_text(*operand_registers(operand)), operand);
}
