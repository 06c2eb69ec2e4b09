// The fields are checked against LLVM's encoder: text in, fields out.
#include "isa/fields.h"

#include "isa/codec.h"

#include <gtest/gtest.h>

namespace asmevo::isa {
namespace {

using namespace fields;

fields::Words words(Processor processor, std::string_view text) {
  const auto codec = Codec::create({.processor = processor});
  const auto bytes = codec->assemble(text);
  EXPECT_TRUE(bytes) << text << ": " << bytes.error().message;
  if (!bytes) return {};
  const Instruction instruction = codec->decode(*bytes, 0);
  EXPECT_EQ(instruction.size, bytes->size()) << text;
  return instruction.words;
}
fields::Words words(std::string_view text) { return words(Processor::gfx942, text); }

TEST(Fields, Sop2AndItsNegativeInlineConstant) {
  const Sop2 f = sop2(words("s_sub_u32 s5, s6, -1"));
  EXPECT_EQ(f.op, 1);
  EXPECT_EQ(f.sdst, 5);
  EXPECT_EQ(f.ssrc0, 6);
  EXPECT_EQ(f.ssrc1, 193);
}

TEST(Fields, SopkHasASignedImmediate) {
  const Sopk f = sopk(words("s_movk_i32 s9, -2"));
  EXPECT_EQ(f.op, 0);
  EXPECT_EQ(f.sdst, 9);
  EXPECT_EQ(f.simm16, -2);
}

TEST(Fields, HwregGivesIdOffsetAndSize) {
  const HwReg f = hwreg(static_cast<uint16_t>(sopk(words("s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 8)")).simm16));
  EXPECT_EQ(f.id, 1);
  EXPECT_EQ(f.offset, 4);
  EXPECT_EQ(f.size, 8);
}

TEST(Fields, Sop1SopcSopp) {
  const Sop1 one = sop1(words("s_not_b64 s[4:5], vcc"));
  EXPECT_EQ(one.op, 5);
  EXPECT_EQ(one.sdst, 4);
  EXPECT_EQ(one.ssrc0, vcc_lo);
  const Sopc compare = sopc(words("s_cmp_lg_u32 s1, 3"));
  EXPECT_EQ(compare.op, 7);
  EXPECT_EQ(compare.ssrc0, 1);
  EXPECT_EQ(compare.ssrc1, 131);
  const Sopp program = sopp(words("s_cbranch_scc1 -3"));
  EXPECT_EQ(program.op, 5);
  EXPECT_EQ(program.simm16, -3);
}

TEST(Fields, SmemWithImmediateOffset) {
  const Smem f = smem(words("s_load_dwordx2 s[8:9], s[2:3], -0x10 glc"));
  EXPECT_EQ(f.op, 1);
  EXPECT_EQ(f.sbase, 2);
  EXPECT_EQ(f.sdata, 8);
  EXPECT_TRUE(f.imm && f.glc && !f.soffset_en && !f.offset_is_sgpr());
  EXPECT_EQ(f.offset, -16);
}

TEST(Fields, SmemWithRegisterOffset) {
  const Smem f = smem(words("s_load_dword s1, s[2:3], s4"));
  EXPECT_TRUE(f.offset_is_sgpr());
  EXPECT_EQ(f.offset_sgpr(), 4);
}

TEST(Fields, SmemWithBothOffsets) {
  const Smem f = smem(words("s_load_dword s1, s[2:3], s4 offset:0x10"));
  EXPECT_TRUE(f.imm && f.soffset_en);
  EXPECT_EQ(f.soffset, 4);
  EXPECT_EQ(f.offset, 16);
}

TEST(Fields, Vop1Vop2Vopc) {
  const Vop1 one = vop1(words("v_cvt_f32_i32_e32 v7, s3"));
  EXPECT_EQ(one.op, 5);
  EXPECT_EQ(one.vdst, 7);
  EXPECT_EQ(one.src0, 3);
  const Vop2 two = vop2(words("v_mul_f32_e32 v7, v8, v9"));
  EXPECT_EQ(two.op, 5);
  EXPECT_EQ(two.vdst, 7);
  EXPECT_EQ(two.src0, 256 + 8);
  EXPECT_EQ(two.vsrc1, 9);
  const Vopc compare = vopc(words("v_cmp_lt_f32_e32 vcc, 1.0, v2"));
  EXPECT_EQ(compare.op, 0x41);
  EXPECT_EQ(compare.src0, 242);
  EXPECT_EQ(compare.vsrc1, 2);
}

TEST(Fields, ALiteralIsTheSecondWord) {
  EXPECT_EQ(literal(words("v_mov_b32_e32 v0, 0x12345678")), 0x12345678u);
  EXPECT_EQ(vop1(words("v_mov_b32_e32 v0, 0x12345678")).src0, source_literal);
}

TEST(Fields, SdwaSelectsAndModifiers) {
  const auto w = words("v_add_f16_sdwa v1, -v2, |v3| clamp dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3 "
                       "src1_sel:DWORD");
  const Sdwa f = sdwa(w);
  EXPECT_EQ(vop2(w).src0, source_sdwa);
  EXPECT_EQ(vop2(w).vsrc1, 3);
  EXPECT_EQ(f.src0, 2);
  EXPECT_EQ(f.dst_select, Select::word1);
  EXPECT_EQ(f.dst_unused, Unused::preserve);
  EXPECT_TRUE(f.clamp);
  EXPECT_EQ(f.source0.select, Select::byte3);
  EXPECT_TRUE(f.source0.neg && !f.source0.abs && !f.source0.sext && !f.source0.sgpr);
  EXPECT_TRUE(f.source1.abs && !f.source1.neg);
  EXPECT_EQ(f.source1.select, Select::dword);
}

TEST(Fields, SdwaScalarSourceSignExtensionAndOmod) {
  const Sdwa sext = sdwa(words("v_add_u32_sdwa v1, sext(v2), s3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 "
                               "src1_sel:DWORD"));
  EXPECT_TRUE(sext.source0.sext && sext.source1.sgpr && !sext.source0.sgpr);
  const Sdwa omod = sdwa(words("v_add_f32_sdwa v1, v2, v3 mul:4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 "
                               "src1_sel:DWORD"));
  EXPECT_EQ(omod.omod, 2);
}

TEST(Fields, SdwaOfComparesHasAScalarDestination) {
  const Sdwab f = sdwab(words("v_cmp_eq_f32_sdwa s[6:7], -v1, |v2| src0_sel:WORD_0 src1_sel:BYTE_2"));
  EXPECT_TRUE(f.has_sdst);
  EXPECT_EQ(f.sdst, 6);
  EXPECT_EQ(f.src0, 1);
  EXPECT_TRUE(f.source0.neg && f.source1.abs);
  EXPECT_EQ(f.source1.select, Select::byte2);
  EXPECT_FALSE(sdwab(words("v_cmp_eq_f32_sdwa vcc, v1, v2 src0_sel:WORD_0 src1_sel:DWORD")).has_sdst);
}

TEST(Fields, DppControlMasksAndModifiers) {
  const auto w = words("v_add_f32_dpp v1, -v2, |v3| row_newbcast:3 row_mask:0x3 bank_mask:0x5 bound_ctrl:0");
  const Dpp f = dpp(w);
  EXPECT_EQ(vop2(w).src0, source_dpp);
  EXPECT_EQ(f.src0, 2);
  EXPECT_EQ(f.dpp_ctrl, dpp_row_newbcast + 3);
  EXPECT_TRUE(f.bound_ctrl);
  EXPECT_TRUE(f.src0_neg && !f.src0_abs && !f.src1_neg && f.src1_abs);
  EXPECT_EQ(f.row_mask, 3);
  EXPECT_EQ(f.bank_mask, 5);
}

TEST(Fields, DppControlsStartWhereTheirGroupsAreNamed) {
  auto control = [](std::string_view text) {
    return dpp(words(fmt::format("v_mov_b32_dpp v1, v2 {} row_mask:0xf bank_mask:0xf", text))).dpp_ctrl;
  };
  EXPECT_EQ(control("quad_perm:[1,0,3,2]"), 0xb1);
  EXPECT_EQ(control("row_shl:1"), dpp_row_shl + 1);
  EXPECT_EQ(control("row_shr:15"), dpp_row_shr + 15);
  EXPECT_EQ(control("row_ror:8"), dpp_row_ror + 8);
  EXPECT_EQ(control("wave_shl:1"), dpp_wave_shl);
  EXPECT_EQ(control("wave_rol:1"), dpp_wave_rol);
  EXPECT_EQ(control("wave_shr:1"), dpp_wave_shr);
  EXPECT_EQ(control("wave_ror:1"), dpp_wave_ror);
  EXPECT_EQ(control("row_mirror"), dpp_row_mirror);
  EXPECT_EQ(control("row_half_mirror"), dpp_row_half_mirror);
  EXPECT_EQ(control("row_bcast:15"), dpp_row_bcast15);
  EXPECT_EQ(control("row_bcast:31"), dpp_row_bcast31);
}

TEST(Fields, Vop3aModifiers) {
  const Vop3a f = vop3a(words("v_fma_f32 v1, -v2, |s3|, v4 clamp mul:4"));
  EXPECT_EQ(f.op, 0x1cb);
  EXPECT_EQ(f.vdst, 1);
  EXPECT_EQ(f.src0, 258);
  EXPECT_EQ(f.src1, 3);
  EXPECT_EQ(f.src2, 260);
  EXPECT_EQ(f.neg, 1);
  EXPECT_EQ(f.abs, 2);
  EXPECT_EQ(f.omod, 2);
  EXPECT_TRUE(f.clamp);
}

TEST(Fields, Vop3aOperandSelects) {
  EXPECT_EQ(vop3a(words("v_fma_f16 v1, v2, v3, v4 op_sel:[1,0,0,1]")).op_sel, 0b1001);
  EXPECT_EQ(vop3a(words("v_fma_f16 v1, v2, v3, v4 op_sel:[0,1,1,0]")).op_sel, 0b0110);
}

TEST(Fields, Bitop3TruthTable) {
  for (int table : {0x01, 0x08, 0x40, 0x55, 0xca})
    EXPECT_EQ(bitop3(words(Processor::gfx950, fmt::format("v_bitop3_b32 v1, v2, v3, v4 bitop3:{}", table))), table);
}

TEST(Fields, Vop3bHasAScalarDestination) {
  const Vop3b f = vop3b(words("v_div_scale_f32 v1, s[6:7], -v2, v3, v4"));
  EXPECT_EQ(f.op, 0x1e0);
  EXPECT_EQ(f.vdst, 1);
  EXPECT_EQ(f.sdst, 6);
  EXPECT_EQ(f.src2, 260);
  EXPECT_EQ(f.neg, 1);
}

TEST(Fields, Vop3pModifiers) {
  const Vop3p f = vop3p(words("v_pk_fma_f16 v1, v2, s3, v4 op_sel:[1,0,1] op_sel_hi:[0,1,0] neg_lo:[1,0,0] "
                              "neg_hi:[0,1,1] clamp"));
  EXPECT_EQ(f.op, 0x0e);
  EXPECT_EQ(f.vdst, 1);
  EXPECT_EQ(f.src0, 258);
  EXPECT_EQ(f.src1, 3);
  EXPECT_EQ(f.src2, 260);
  EXPECT_EQ(f.op_sel, 0b101);
  EXPECT_EQ(f.op_sel_hi, 0b010);
  EXPECT_EQ(f.neg_lo, 0b001);
  EXPECT_EQ(f.neg_hi, 0b110);
  EXPECT_TRUE(f.clamp);
}

TEST(Fields, MatrixInstructionsSayWhichOperandsAreAccumulators) {
  const Mai f = mai(words("v_mfma_f32_32x32x8_f16 a[16:31], a[2:3], v[4:5], a[32:47] cbsz:1 abid:2 blgp:3"));
  EXPECT_EQ(f.op, 0x4c);
  EXPECT_EQ(f.vdst, 16);
  EXPECT_EQ(f.src0, 258);
  EXPECT_EQ(f.src1, 260);
  EXPECT_EQ(f.src2, 256 + 32);
  EXPECT_EQ(f.cbsz, 1);
  EXPECT_EQ(f.abid, 2);
  EXPECT_EQ(f.blgp, 3);
  EXPECT_TRUE(f.acc_cd && f.acc_a && !f.acc_b);
  const Mai g = mai(words("v_mfma_f32_32x32x8_f16 v[16:31], v[2:3], a[4:5], 0"));
  EXPECT_TRUE(!g.acc_cd && !g.acc_a && g.acc_b);
  EXPECT_EQ(g.src2, 128);
}

TEST(Fields, ScaledMatrixInstructionsSelectABytePerScale) {
  const Vop3px2 f = vop3px2(words(Processor::gfx950,
                                  "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:17], v[20:23], v24, v25 "
                                  "op_sel:[1,0,0] op_sel_hi:[0,1,0] cbsz:1 blgp:2"));
  EXPECT_EQ(f.scale_a, 256 + 24);
  EXPECT_EQ(f.scale_b, 256 + 25);
  EXPECT_EQ(f.scale_a_byte, 1);
  EXPECT_EQ(f.scale_b_byte, 2);
  EXPECT_EQ(f.mai.op, 0x2d);
  EXPECT_EQ(f.mai.src0, 256 + 4);
  EXPECT_EQ(f.mai.src1, 256 + 12);
  EXPECT_EQ(f.mai.src2, 256 + 20);
  EXPECT_EQ(f.mai.cbsz, 1);
  EXPECT_EQ(f.mai.blgp, 2);
}

TEST(Fields, DsOffsetsAndRegisters) {
  const Ds two = ds(words("ds_write2_b32 v1, v2, v3 offset0:4 offset1:5"));
  EXPECT_EQ(two.op, 0x0e);
  EXPECT_EQ(two.addr, 1);
  EXPECT_EQ(two.data0, 2);
  EXPECT_EQ(two.data1, 3);
  EXPECT_EQ(two.offset0, 4);
  EXPECT_EQ(two.offset1, 5);
  EXPECT_FALSE(two.acc || two.gds);
  const Ds one = ds(words("ds_read_b32 a7, v2 offset:258"));
  EXPECT_EQ(one.offset(), 258);
  EXPECT_EQ(one.vdst, 7);
  EXPECT_TRUE(one.acc);
  EXPECT_TRUE(ds(words(Processor::gfx908, "ds_add_u32 v1, v2 gds")).gds);
}

TEST(Fields, GlobalWithScalarAddressAndCachePolicy) {
  const Flat f = flat(words("global_load_dword v1, v2, s[4:5] offset:-8 sc0 sc1"));
  EXPECT_EQ(f.op, 0x14);
  EXPECT_EQ(f.segment, Segment::global);
  EXPECT_EQ(f.vdst, 1);
  EXPECT_EQ(f.addr, 2);
  EXPECT_EQ(f.saddr, 4);
  EXPECT_TRUE(f.has_saddr());
  EXPECT_EQ(f.offset, -8);
  EXPECT_TRUE(f.cache.sc0 && f.cache.sc1 && !f.cache.nt && !f.acc);
  const Flat g = flat(words("global_store_dword v[2:3], a9, off nt"));
  EXPECT_FALSE(g.has_saddr());
  EXPECT_EQ(g.data, 9);
  EXPECT_TRUE(g.acc && g.cache.nt && !g.cache.sc0);
}

TEST(Fields, FlatOffsetsAreUnsigned) {
  const Flat f = flat(words("flat_load_dword v1, v[2:3] offset:4095"));
  EXPECT_EQ(f.segment, Segment::flat);
  EXPECT_EQ(f.offset, 4095);
}

TEST(Fields, ScratchSaysWhetherAVectorAddressIsUsed) {
  EXPECT_TRUE(flat(words("scratch_load_dword v1, v2, off offset:4")).bit13);
  const Flat scalar = flat(words("scratch_load_dword v1, off, s3"));
  EXPECT_EQ(scalar.segment, Segment::scratch);
  EXPECT_FALSE(scalar.bit13);
  EXPECT_EQ(scalar.saddr, 3);
}

TEST(Fields, MubufAddressingAndCachePolicy) {
  const Mubuf f = mubuf(words("buffer_load_dword v1, v2, s[8:11], s3 offen offset:5 nt"));
  EXPECT_EQ(f.op, 0x14);
  EXPECT_EQ(f.vdata, 1);
  EXPECT_EQ(f.vaddr, 2);
  EXPECT_EQ(f.srsrc, 8);
  EXPECT_EQ(f.soffset, 3);
  EXPECT_EQ(f.offset, 5);
  EXPECT_TRUE(f.offen && !f.idxen && !f.lds && !f.acc);
  EXPECT_TRUE(f.cache.nt && !f.cache.sc0 && !f.cache.sc1);
  const Mubuf g = mubuf(words("buffer_load_dword a1, v2, s[8:11], 0 idxen sc0"));
  EXPECT_TRUE(g.idxen && g.acc && g.cache.sc0);
  EXPECT_EQ(g.soffset, 128);
  EXPECT_TRUE(mubuf(words("buffer_load_dword v2, s[8:11], 0 offen sc1 lds")).lds);
  EXPECT_TRUE(mubuf(words("buffer_load_dword v2, s[8:11], 0 offen sc1 lds")).cache.sc1);
}

TEST(Fields, MtbufFormatsAndCachePolicy) {
  const Mtbuf f = mtbuf(words("tbuffer_store_format_xy v[4:5], v1, s[4:7], s3 "
                              "format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_FLOAT] idxen offset:9 sc1"));
  EXPECT_EQ(f.op, 5);
  EXPECT_EQ(f.vdata, 4);
  EXPECT_EQ(f.vaddr, 1);
  EXPECT_EQ(f.srsrc, 4);
  EXPECT_EQ(f.soffset, 3);
  EXPECT_EQ(f.offset, 9);
  EXPECT_EQ(f.dfmt, 11);
  EXPECT_EQ(f.nfmt, 7);
  EXPECT_TRUE(f.idxen && !f.offen && f.cache.sc1 && !f.cache.sc0 && !f.cache.nt);
}

} // namespace
} // namespace asmevo::isa
