// What instructions read and write. Explicit registers first, then a bar, then the implicit ones.
#include "isa/codec.h"
#include "isa/registers_of.h"

#include <gtest/gtest.h>

namespace asmevo::isa {
namespace {

using testing::names_of;

struct Row {
  std::string_view text, defs, uses;
};

void expect_registers(Processor processor, std::span<const Row> rows) {
  const auto codec = Codec::create({.processor = processor});
  ASSERT_TRUE(codec);
  for (const Row& row : rows) {
    const auto bytes = codec->assemble(row.text);
    ASSERT_TRUE(bytes) << row.text << ": " << bytes.error().message;
    const Instruction i = codec->decode(*bytes, 0);
    EXPECT_EQ(names_of(i.defs, i.explicit_defs), row.defs) << row.text;
    EXPECT_EQ(names_of(i.uses, i.explicit_uses), row.uses) << row.text;
  }
}

TEST(Operands, ScalarInstructions) {
  constexpr Row rows[] = {
      {"s_add_u32 s0, s1, s2", "s0 | scc", "s1 s2"},
      {"s_addc_u32 s0, s1, 0x12345", "s0 | scc", "s1 | scc"},
      {"s_cselect_b64 s[0:1], s[2:3], vcc", "s[0:1]", "s[2:3] vcc | scc"},
      {"s_cmp_eq_u32 s0, 5", "| scc", "s0"},
      {"s_bitset1_b32 s0, s1", "s0", "s1 s0"},
      {"s_cmov_b32 s0, s1", "s0", "s1 s0 | scc"},
      {"s_addk_i32 s0, 5", "s0 | scc", "s0"},
      {"s_mov_b64 exec, s[0:1]", "exec", "s[0:1]"},
      {"s_and_saveexec_b64 s[0:1], vcc", "s[0:1] | exec scc", "vcc | exec"},
      {"s_mov_b32 m0, s3", "m0", "s3"},
      {"s_movrels_b32 s0, s1", "s0", "s1 | m0"},
      {"s_movreld_b32 s0, s1", "s0", "s0 s1 | m0"},
      {"s_getpc_b64 s[0:1]", "s[0:1]", ""},
      {"s_swappc_b64 s[30:31], s[0:1]", "s[30:31]", "s[0:1]"},
      {"s_setpc_b64 s[30:31]", "", "s[30:31]"},
      {"s_cbranch_vccnz 4", "", "| vcc"},
      {"s_cbranch_execz 4", "", "| exec"},
      {"s_cbranch_scc0 4", "", "| scc"},
      {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5", "| mode", "| mode"},
      {"s_getreg_b32 s0, hwreg(HW_REG_MODE)", "s0", "| mode"},
      {"s_set_gpr_idx_on s0, gpr_idx(SRC0)", "| m0 mode", "s0 | m0 mode"},
      {"s_load_dwordx4 s[0:3], s[4:5], 0x10", "s[0:3]", "s[4:5]"},
      {"s_buffer_load_dwordx2 s[0:1], s[4:7], s8", "s[0:1]", "s[4:7] s8"},
      {"s_memtime s[0:1]", "s[0:1]", ""},
  };
  expect_registers(Processor::gfx942, rows);
}

TEST(Operands, VectorInstructions) {
  constexpr Row rows[] = {
      {"v_mov_b32_e32 v0, s1", "v0", "s1 | exec"},
      {"v_mov_b32_e32 v0, src_vccz", "v0", "vcc | exec"},
      {"v_add_u32_e32 v0, v1, v2", "v0", "v1 v2 | exec"},
      {"v_add_f32_e32 v0, v1, v2", "v0", "v1 v2 | mode exec"},
      {"v_fmac_f32_e32 v0, v1, v2", "v0", "v1 v2 v0 | mode exec"},
      {"v_add_co_u32_e32 v0, vcc, v1, v2", "v0 | vcc", "v1 v2 | exec"},
      {"v_addc_co_u32_e32 v0, vcc, v1, v2, vcc", "v0 | vcc", "v1 v2 | vcc exec"},
      {"v_addc_co_u32_e64 v0, s[2:3], v1, v2, s[4:5]", "v0 s[2:3]", "v1 v2 s[4:5] | exec"},
      {"v_cndmask_b32_e32 v0, v1, v2, vcc", "v0", "v1 v2 | vcc exec"},
      {"v_cmp_gt_u32_e32 vcc, v1, v2", "| vcc", "v1 v2 | exec"},
      {"v_cmp_gt_u32_e64 s[2:3], v1, v2", "s[2:3]", "v1 v2 | exec"},
      {"v_cmpx_gt_u32_e32 vcc, v1, v2", "| vcc exec", "v1 v2 | exec"},
      {"v_readfirstlane_b32 s0, v1", "s0", "v1 | exec"},
      {"v_readlane_b32 s0, v1, s3", "s0", "v1 s3"},
      {"v_writelane_b32 v0, s1, 3", "v0", "s1 v0"},
      {"v_div_scale_f32 v0, vcc, v1, v2, v3", "v0 vcc", "v1 v2 v3 | mode exec"},
      {"v_div_fmas_f32 v0, v1, v2, v3", "v0", "v1 v2 v3 | mode vcc exec"},
      {"v_mad_u64_u32 v[0:1], s[2:3], v4, v5, v[6:7]", "v[0:1] s[2:3]", "v4 v5 v[6:7] | exec"},
      {"v_swap_b32 v0, v1", "v0 v1", "v1 v0 | exec"},
      {"v_pk_fma_f32 v[0:1], v[2:3], s[4:5], v[6:7]", "v[0:1]", "v[2:3] s[4:5] v[6:7] | mode exec"},
      {"v_cvt_pk_fp8_f32 v0, v1, v2", "v0", "v1 v2 v0 | mode exec"},
  };
  expect_registers(Processor::gfx942, rows);
}

TEST(Operands, APartialWriteReadsItsDestination) {
  constexpr Row rows[] = {
      {"v_fma_mixhi_f16 v0, v1, v2, v3", "v0", "v1 v2 v3 v0 | mode exec"},
      {"v_fma_f16 v0, v1, v2, v3", "v0", "v1 v2 v3 v0 | mode exec"},
      {"v_add_f16_e32 v0, v1, v2", "v0", "v1 v2 | mode exec"}, // clears the upper half
      {"v_add_u16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:DWORD", "v0",
       "v1 v2 v0 | exec"},
      {"v_add_u16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:DWORD", "v0",
       "v1 v2 | exec"},
      {"v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", "v0", "v0 v1 | exec"},
      {"v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:0", "v0", "v1 | exec"},
      {"v_mov_b32_dpp v0, v1 row_bcast:15 row_mask:0xa bank_mask:0xf bound_ctrl:0", "v0", "v0 v1 | exec"},
      {"v_fmac_f32_dpp v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", "v0", "v1 v2 v0 | mode exec"},
      {"ds_read_u16_d16_hi v0, v1", "v0", "v1 v0 | exec"},
      {"global_load_short_d16 v0, v[2:3], off", "v0", "v[2:3] v0 | exec"},
      {"buffer_load_short_d16_hi v0, off, s[0:3], 0", "v0", "s[0:3] v0 | exec"},
      {"global_store_short_d16_hi v[2:3], v0, off", "", "v[2:3] v0 | exec"},
  };
  expect_registers(Processor::gfx942, rows);
}

TEST(Operands, MatrixInstructions) {
  constexpr Row rows[] = {
      {"v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], a[2:3], a[16:31]", "a[0:15]", "v[0:1] a[2:3] a[16:31] | mode exec"},
      {"v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], 0", "v[0:15]", "v[16:17] v[18:19] | mode exec"},
      {"v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10", "v[0:3]", "v[4:5] v[6:9] v10 v[0:3] | mode exec"},
      {"v_accvgpr_read_b32 v0, a1", "v0", "a1 | exec"},
      {"v_accvgpr_write_b32 a0, v1", "a0", "v1 | exec"},
  };
  expect_registers(Processor::gfx942, rows);
}

TEST(Operands, MemoryInstructions) {
  constexpr Row rows[] = {
      {"ds_read_b32 v0, v1", "v0", "v1 | exec"},
      {"ds_write_b128 v0, v[4:7]", "", "v0 v[4:7] | exec"},
      {"ds_add_rtn_u32 v0, v1, v2", "v0", "v1 v2 | exec"},
      {"ds_append v0", "v0", "| m0 exec"},
      {"global_load_dwordx4 a[0:3], v4, s[2:3]", "a[0:3]", "s[2:3] v4 | exec"},
      {"global_store_dword v4, v0, s[2:3]", "", "v4 v0 s[2:3] | exec"},
      {"global_atomic_add v0, v[2:3], v4, off sc0", "v0", "v[2:3] v4 | exec"},
      {"global_load_lds_dword v[2:3], off", "", "v[2:3] | m0 exec"},
      {"flat_load_dword v0, v[2:3]", "v0", "v[2:3] | exec flat_scratch"},
      {"scratch_store_dword v1, v0, off", "", "v0 v1 | exec flat_scratch"},
      {"buffer_load_dword v0, v1, s[4:7], s8 offen", "v0", "v1 s[4:7] s8 | exec"},
      {"buffer_load_dword v1, s[4:7], s8 offen lds", "", "v1 s[4:7] s8 | exec m0"},
      {"buffer_atomic_add v0, v1, s[4:7], 0 offen sc0", "v0", "v0 v1 s[4:7] | exec"},
      {"buffer_atomic_add v0, v1, s[4:7], 0 offen", "", "v0 v1 s[4:7] | exec"},
  };
  expect_registers(Processor::gfx942, rows);
}

TEST(Operands, AccumulatorsAreSeparateOnGfx908) {
  constexpr Row rows[] = {
      {"v_mfma_f32_32x32x8f16 a[16:31], v[2:3], a[4:5], a[32:47]", "a[16:31]", "v[2:3] a[4:5] a[32:47] | mode exec"},
  };
  expect_registers(Processor::gfx908, rows);
}

TEST(Operands, Gfx950Additions) {
  constexpr Row rows[] = {
      {"v_permlane32_swap_b32_e32 v1, v2", "v1 v2", "v1 v2 | exec"},
      {"v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[20:23], v24, v25", "v[0:3]",
       "v[4:11] v[12:19] v[20:23] v24 v25 | mode exec"},
      {"ds_read_b64_tr_b16 v[0:1], v2", "v[0:1]", "v2 | exec"},
  };
  expect_registers(Processor::gfx950, rows);
}

} // namespace
} // namespace asmevo::isa
