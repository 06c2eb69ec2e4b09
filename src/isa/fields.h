// The fields of the GFX9 encodings, picked out of the raw words.
//
// Text leaves fields out and operand lists lose their order, so the simulated machine executes from the words. Each
// encoding is a plain struct of its fields and a constexpr function that fills it. Names are the manual's. Modifier
// masks keep the manual's bit order: bit n belongs to source n (in op_sel of VOP3 bit 3 is the destination).
//
// Source operands are 9 bits (8 in scalar encodings): 0-127 scalar registers, 128-248 inline constants and special
// values, 249 SDWA, 250 DPP, 255 literal, 256-511 VGPRs. Whether a vector operand is an accumulator is said by `acc`
// bits on gfx90a and later; on gfx908 sources of matrix instructions say it too, while their C and D always are.
//
// Sources: CDNA3 ISA manual, "Microcode Formats"; for what differs on gfx906-gfx90a and for gfx950's 16-byte matrix
// instruction, the bit positions that LLVM's encoder writes.
#pragma once

#include "isa/encoding.h"

#include <array>

namespace asmevo::isa::fields {

using Words = std::array<uint32_t, 4>;

constexpr uint32_t bits(uint32_t word, unsigned low, unsigned width) {
  return word >> low & (width == 32 ? ~0u : (1u << width) - 1);
}
constexpr bool bit(uint32_t word, unsigned position) { return word >> position & 1; }
constexpr int32_t sign_extend(uint32_t value, unsigned width) {
  return static_cast<int32_t>(value << (32 - width)) >> (32 - width);
}

// Source operand codes.
inline constexpr uint16_t source_sdwa = 249, source_dpp = 250, source_vccz = 251, source_execz = 252, source_scc = 253,
                          source_lds_direct = 254, source_literal = 255, source_vgpr0 = 256;

// ---- scalar ----

struct Sop2 {
  uint8_t op, sdst, ssrc0, ssrc1;
};
constexpr Sop2 sop2(const Words& w) {
  return {static_cast<uint8_t>(bits(w[0], 23, 7)), static_cast<uint8_t>(bits(w[0], 16, 7)),
          static_cast<uint8_t>(bits(w[0], 0, 8)), static_cast<uint8_t>(bits(w[0], 8, 8))};
}

struct Sopk {
  uint8_t op, sdst;
  int16_t simm16;
};
constexpr Sopk sopk(const Words& w) {
  return {static_cast<uint8_t>(bits(w[0], 23, 5)), static_cast<uint8_t>(bits(w[0], 16, 7)), static_cast<int16_t>(w[0])};
}

struct Sop1 {
  uint8_t op, sdst, ssrc0;
};
constexpr Sop1 sop1(const Words& w) {
  return {static_cast<uint8_t>(bits(w[0], 8, 8)), static_cast<uint8_t>(bits(w[0], 16, 7)),
          static_cast<uint8_t>(bits(w[0], 0, 8))};
}

struct Sopc {
  uint8_t op, ssrc0, ssrc1;
};
constexpr Sopc sopc(const Words& w) {
  return {static_cast<uint8_t>(bits(w[0], 16, 7)), static_cast<uint8_t>(bits(w[0], 0, 8)),
          static_cast<uint8_t>(bits(w[0], 8, 8))};
}

struct Sopp {
  uint8_t op;
  int16_t simm16;
};
constexpr Sopp sopp(const Words& w) { return {static_cast<uint8_t>(bits(w[0], 16, 7)), static_cast<int16_t>(w[0])}; }

/// The hwreg operand of s_getreg/s_setreg (a Sopk::simm16).
struct HwReg {
  uint8_t id, offset, size; // size 1-32 bits
};
constexpr HwReg hwreg(uint16_t simm16) {
  return {static_cast<uint8_t>(bits(simm16, 0, 6)), static_cast<uint8_t>(bits(simm16, 6, 5)),
          static_cast<uint8_t>(bits(simm16, 11, 5) + 1)};
}

/// Scalar memory. The address is SBASE + what offset_kind says; dword accesses ignore the two low address bits.
struct Smem {
  uint8_t op;
  uint8_t sbase;   // first SGPR (the field counts pairs)
  uint8_t sdata;   // also the immediate of cache and probe operations
  bool glc, nv;    // glc: an atomic returns
  bool imm;        // `offset` is added
  bool soffset_en; // SGPR `soffset` is added
  int32_t offset;  // 21 bits, signed
  uint8_t soffset; // an SGPR or m0

  /// With neither `imm` nor `soffset_en`, the low 7 bits of the offset field name the SGPR that is added.
  constexpr bool offset_is_sgpr() const { return !imm && !soffset_en; }
  constexpr uint8_t offset_sgpr() const { return static_cast<uint8_t>(offset & 0x7f); }
};
constexpr Smem smem(const Words& w) {
  return {.op = static_cast<uint8_t>(bits(w[0], 18, 8)),
          .sbase = static_cast<uint8_t>(bits(w[0], 0, 6) * 2),
          .sdata = static_cast<uint8_t>(bits(w[0], 6, 7)),
          .glc = bit(w[0], 16),
          .nv = bit(w[0], 15),
          .imm = bit(w[0], 17),
          .soffset_en = bit(w[0], 14),
          .offset = sign_extend(bits(w[1], 0, 21), 21),
          .soffset = static_cast<uint8_t>(bits(w[1], 25, 7))};
}

// ---- vector ALU, 32 bits ----

struct Vop1 {
  uint8_t op, vdst;
  uint16_t src0;
};
constexpr Vop1 vop1(const Words& w) {
  return {static_cast<uint8_t>(bits(w[0], 9, 8)), static_cast<uint8_t>(bits(w[0], 17, 8)),
          static_cast<uint16_t>(bits(w[0], 0, 9))};
}

struct Vop2 {
  uint8_t op, vdst;
  uint16_t src0;
  uint8_t vsrc1; // a VGPR number; in SDWA with s1 set an SGPR number
};
constexpr Vop2 vop2(const Words& w) {
  return {static_cast<uint8_t>(bits(w[0], 25, 6)), static_cast<uint8_t>(bits(w[0], 17, 8)),
          static_cast<uint16_t>(bits(w[0], 0, 9)), static_cast<uint8_t>(bits(w[0], 9, 8))};
}

struct Vopc {
  uint8_t op;
  uint16_t src0;
  uint8_t vsrc1;
};
constexpr Vopc vopc(const Words& w) {
  return {static_cast<uint8_t>(bits(w[0], 17, 8)), static_cast<uint16_t>(bits(w[0], 0, 9)),
          static_cast<uint8_t>(bits(w[0], 9, 8))};
}

/// The 32-bit literal behind a 4-byte encoding (v_madmk, v_madak, s_setreg_imm32 or a source of 255).
constexpr uint32_t literal(const Words& w) { return w[1]; }

// ---- SDWA and DPP, the second word of vop1/vop2/vopc ----

enum class Select : uint8_t { byte0, byte1, byte2, byte3, word0, word1, dword };
enum class Unused : uint8_t { pad, sext, preserve };

struct SdwaSource {
  Select select;
  bool sext, neg, abs;
  bool sgpr; // the operand is a scalar register, not a VGPR
};

/// `src0` replaces the 249 of the first word; source 1 stays where the first word has it.
struct Sdwa {
  uint8_t src0;
  Select dst_select;
  Unused dst_unused;
  bool clamp;
  uint8_t omod;
  SdwaSource source0, source1;
};
constexpr SdwaSource sdwa_source(uint32_t half) {
  return {static_cast<Select>(bits(half, 0, 3)), bit(half, 3), bit(half, 4), bit(half, 5), bit(half, 7)};
}
constexpr Sdwa sdwa(const Words& w) {
  return {.src0 = static_cast<uint8_t>(bits(w[1], 0, 8)),
          .dst_select = static_cast<Select>(bits(w[1], 8, 3)),
          .dst_unused = static_cast<Unused>(bits(w[1], 11, 2)),
          .clamp = bit(w[1], 13),
          .omod = static_cast<uint8_t>(bits(w[1], 14, 2)),
          .source0 = sdwa_source(w[1] >> 16),
          .source1 = sdwa_source(w[1] >> 24)};
}

/// SDWA of compares: a scalar destination instead of destination select and output modifiers.
struct Sdwab {
  uint8_t src0;
  uint8_t sdst; // meaningful with `has_sdst`, else VCC is written
  bool has_sdst;
  SdwaSource source0, source1;
};
constexpr Sdwab sdwab(const Words& w) {
  return {static_cast<uint8_t>(bits(w[1], 0, 8)), static_cast<uint8_t>(bits(w[1], 8, 7)), bit(w[1], 15),
          sdwa_source(w[1] >> 16), sdwa_source(w[1] >> 24)};
}

struct Dpp {
  uint8_t src0;      // VGPR
  uint16_t dpp_ctrl; // 9 bits
  bool bound_ctrl;   // lanes without a source read 0 instead of keeping the destination
  bool src0_neg, src0_abs, src1_neg, src1_abs;
  uint8_t bank_mask, row_mask;
};
constexpr Dpp dpp(const Words& w) {
  return {.src0 = static_cast<uint8_t>(bits(w[1], 0, 8)),
          .dpp_ctrl = static_cast<uint16_t>(bits(w[1], 8, 9)),
          .bound_ctrl = bit(w[1], 19),
          .src0_neg = bit(w[1], 20),
          .src0_abs = bit(w[1], 21),
          .src1_neg = bit(w[1], 22),
          .src1_abs = bit(w[1], 23),
          .bank_mask = static_cast<uint8_t>(bits(w[1], 24, 4)),
          .row_mask = static_cast<uint8_t>(bits(w[1], 28, 4))};
}

/// First values of the dpp_ctrl groups; the low bits give the amount (quad_perm: four 2-bit selectors).
inline constexpr uint16_t dpp_quad_perm = 0x000, dpp_row_shl = 0x100, dpp_row_shr = 0x110, dpp_row_ror = 0x120,
                          dpp_wave_shl = 0x130, dpp_wave_rol = 0x134, dpp_wave_shr = 0x138, dpp_wave_ror = 0x13c,
                          dpp_row_mirror = 0x140, dpp_row_half_mirror = 0x141, dpp_row_bcast15 = 0x142,
                          dpp_row_bcast31 = 0x143, dpp_row_newbcast = 0x150;

// ---- vector ALU, 64 bits ----

struct Vop3a {
  uint16_t op;
  uint8_t vdst; // compares and v_readlane: an SGPR number
  uint16_t src0, src1, src2;
  uint8_t abs, neg; // 3 bits
  uint8_t op_sel;   // 4 bits
  uint8_t omod;
  bool clamp;
};
constexpr Vop3a vop3a(const Words& w) {
  return {.op = static_cast<uint16_t>(bits(w[0], 16, 10)),
          .vdst = static_cast<uint8_t>(bits(w[0], 0, 8)),
          .src0 = static_cast<uint16_t>(bits(w[1], 0, 9)),
          .src1 = static_cast<uint16_t>(bits(w[1], 9, 9)),
          .src2 = static_cast<uint16_t>(bits(w[1], 18, 9)),
          .abs = static_cast<uint8_t>(bits(w[0], 8, 3)),
          .neg = static_cast<uint8_t>(bits(w[1], 29, 3)),
          .op_sel = static_cast<uint8_t>(bits(w[0], 11, 4)),
          .omod = static_cast<uint8_t>(bits(w[1], 27, 2)),
          .clamp = bit(w[0], 15)};
}
/// v_bitop3 (gfx950) keeps its truth table where the modifiers are: bits 2-0 in neg, 5-3 in abs, 7-6 in omod.
constexpr uint8_t bitop3(const Words& w) {
  return static_cast<uint8_t>(bits(w[1], 29, 3) | bits(w[0], 8, 3) << 3 | bits(w[1], 27, 2) << 6);
}

struct Vop3b {
  uint16_t op;
  uint8_t vdst, sdst;
  uint16_t src0, src1, src2;
  uint8_t neg, omod;
  bool clamp;
};
constexpr Vop3b vop3b(const Words& w) {
  return {.op = static_cast<uint16_t>(bits(w[0], 16, 10)),
          .vdst = static_cast<uint8_t>(bits(w[0], 0, 8)),
          .sdst = static_cast<uint8_t>(bits(w[0], 8, 7)),
          .src0 = static_cast<uint16_t>(bits(w[1], 0, 9)),
          .src1 = static_cast<uint16_t>(bits(w[1], 9, 9)),
          .src2 = static_cast<uint16_t>(bits(w[1], 18, 9)),
          .neg = static_cast<uint8_t>(bits(w[1], 29, 3)),
          .omod = static_cast<uint8_t>(bits(w[1], 27, 2)),
          .clamp = bit(w[0], 15)};
}

struct Vop3p {
  uint8_t op;
  uint8_t vdst;
  uint16_t src0, src1, src2;
  uint8_t op_sel, op_sel_hi, neg_lo, neg_hi; // 3 bits each; in the mix instructions neg_hi is abs
  bool clamp;
};
constexpr Vop3p vop3p(const Words& w) {
  return {.op = static_cast<uint8_t>(bits(w[0], 16, 7)),
          .vdst = static_cast<uint8_t>(bits(w[0], 0, 8)),
          .src0 = static_cast<uint16_t>(bits(w[1], 0, 9)),
          .src1 = static_cast<uint16_t>(bits(w[1], 9, 9)),
          .src2 = static_cast<uint16_t>(bits(w[1], 18, 9)),
          .op_sel = static_cast<uint8_t>(bits(w[0], 11, 3)),
          .op_sel_hi = static_cast<uint8_t>(bits(w[1], 27, 2) | bits(w[0], 14, 1) << 2),
          .neg_lo = static_cast<uint8_t>(bits(w[1], 29, 3)),
          .neg_hi = static_cast<uint8_t>(bits(w[0], 8, 3)),
          .clamp = bit(w[0], 15)};
}

/// Matrix instructions. v_accvgpr_read/write have the encoding but not the bits: what they name follows from what they
/// are. On gfx908 acc_cd is not written: C and D are always accumulators there.
struct Mai {
  uint8_t op;
  uint8_t vdst;
  uint16_t src0, src1, src2; // A, B, C (SMFMAC: the index register in src2, C is vdst)
  uint8_t cbsz, abid, blgp;
  bool acc_a, acc_b, acc_cd;
};
constexpr Mai mai_of(uint32_t w0, uint32_t w1) {
  return {.op = static_cast<uint8_t>(bits(w0, 16, 7)),
          .vdst = static_cast<uint8_t>(bits(w0, 0, 8)),
          .src0 = static_cast<uint16_t>(bits(w1, 0, 9)),
          .src1 = static_cast<uint16_t>(bits(w1, 9, 9)),
          .src2 = static_cast<uint16_t>(bits(w1, 18, 9)),
          .cbsz = static_cast<uint8_t>(bits(w0, 8, 3)),
          .abid = static_cast<uint8_t>(bits(w0, 11, 4)),
          .blgp = static_cast<uint8_t>(bits(w1, 29, 3)),
          .acc_a = bit(w1, 27),
          .acc_b = bit(w1, 28),
          .acc_cd = bit(w0, 15)};
}
constexpr Mai mai(const Words& w) { return mai_of(w[0], w[1]); }

/// gfx950: v_mfma_ld_scale_b32 in front of an f8f6f4 matrix instruction. The byte of a scale register that is used is
/// given by two bits, the low one in op_sel, the high one in op_sel_hi.
struct Vop3px2 {
  uint16_t scale_a, scale_b; // source operands
  uint8_t scale_a_byte, scale_b_byte;
  Mai mai;
};
constexpr Vop3px2 vop3px2(const Words& w) {
  return {.scale_a = static_cast<uint16_t>(bits(w[1], 0, 9)),
          .scale_b = static_cast<uint16_t>(bits(w[1], 9, 9)),
          .scale_a_byte = static_cast<uint8_t>(bits(w[0], 11, 1) | bits(w[1], 27, 1) << 1),
          .scale_b_byte = static_cast<uint8_t>(bits(w[0], 12, 1) | bits(w[1], 28, 1) << 1),
          .mai = mai_of(w[2], w[3])};
}

// ---- memory ----

/// Cache policy: glc/slc/scc until gfx90a are sc0/nt/sc1 from gfx942 on, in the same places.
struct CachePolicy {
  bool sc0; // glc; with atomics: returns the old value
  bool nt;  // slc
  bool sc1; // scc of gfx90a
};

struct Ds {
  uint8_t op;
  uint8_t addr, data0, data1, vdst;
  uint8_t offset0, offset1;
  bool gds;
  bool acc; // gfx90a and later: data and destination are AGPRs
  constexpr uint16_t offset() const { return static_cast<uint16_t>(offset0 | offset1 << 8); }
};
constexpr Ds ds(const Words& w) {
  return {.op = static_cast<uint8_t>(bits(w[0], 17, 8)),
          .addr = static_cast<uint8_t>(bits(w[1], 0, 8)),
          .data0 = static_cast<uint8_t>(bits(w[1], 8, 8)),
          .data1 = static_cast<uint8_t>(bits(w[1], 16, 8)),
          .vdst = static_cast<uint8_t>(bits(w[1], 24, 8)),
          .offset0 = static_cast<uint8_t>(bits(w[0], 0, 8)),
          .offset1 = static_cast<uint8_t>(bits(w[0], 8, 8)),
          .gds = bit(w[0], 16),
          .acc = bit(w[0], 25)};
}

enum class Segment : uint8_t { flat, scratch, global };

inline constexpr uint8_t saddr_off = 0x7f;

/// FLAT, GLOBAL and SCRATCH.
struct Flat {
  uint8_t op;
  Segment segment;
  uint8_t addr, data, vdst;
  uint8_t saddr;  // an SGPR (pair for global), or saddr_off
  int32_t offset; // 13 bits signed; flat: 12 bits unsigned
  bool bit13;     // gfx906/908: the load goes to LDS. gfx942+, scratch: `addr` is used beside or instead of saddr
  bool acc;       // gfx90a and later: data and destination are AGPRs (bit 55; before it was nv)
  CachePolicy cache;

  constexpr bool has_saddr() const { return saddr != saddr_off; }
};
constexpr Flat flat(const Words& w) {
  const auto segment = static_cast<Segment>(bits(w[0], 14, 2));
  return {.op = static_cast<uint8_t>(bits(w[0], 18, 7)),
          .segment = segment,
          .addr = static_cast<uint8_t>(bits(w[1], 0, 8)),
          .data = static_cast<uint8_t>(bits(w[1], 8, 8)),
          .vdst = static_cast<uint8_t>(bits(w[1], 24, 8)),
          .saddr = static_cast<uint8_t>(bits(w[1], 16, 7)),
          .offset =
              segment == Segment::flat ? static_cast<int32_t>(bits(w[0], 0, 12)) : sign_extend(bits(w[0], 0, 13), 13),
          .bit13 = bit(w[0], 13),
          .acc = bit(w[1], 23),
          .cache = {bit(w[0], 16), bit(w[0], 17), bit(w[0], 25)}};
}

struct Mubuf {
  uint8_t op;
  uint8_t vaddr; // index, offset or both (index first)
  uint8_t vdata;
  uint8_t srsrc;   // first SGPR of the resource (the field counts fours)
  uint8_t soffset; // scalar source operand
  uint16_t offset; // 12 bits
  bool offen, idxen;
  bool lds; // the load goes to LDS at M0
  bool acc; // gfx90a and later (before: tfe)
  CachePolicy cache;
};
constexpr Mubuf mubuf(const Words& w) {
  return {.op = static_cast<uint8_t>(bits(w[0], 18, 7)),
          .vaddr = static_cast<uint8_t>(bits(w[1], 0, 8)),
          .vdata = static_cast<uint8_t>(bits(w[1], 8, 8)),
          .srsrc = static_cast<uint8_t>(bits(w[1], 16, 5) * 4),
          .soffset = static_cast<uint8_t>(bits(w[1], 24, 8)),
          .offset = static_cast<uint16_t>(bits(w[0], 0, 12)),
          .offen = bit(w[0], 12),
          .idxen = bit(w[0], 13),
          .lds = bit(w[0], 16),
          .acc = bit(w[1], 23),
          .cache = {bit(w[0], 14), bit(w[0], 17), bit(w[0], 15)}};
}

struct Mtbuf {
  uint8_t op;
  uint8_t vaddr, vdata;
  uint8_t srsrc; // first SGPR
  uint8_t soffset;
  uint16_t offset;
  uint8_t dfmt, nfmt;
  bool offen, idxen;
  bool acc;
  CachePolicy cache;
};
constexpr Mtbuf mtbuf(const Words& w) {
  return {.op = static_cast<uint8_t>(bits(w[0], 15, 4)),
          .vaddr = static_cast<uint8_t>(bits(w[1], 0, 8)),
          .vdata = static_cast<uint8_t>(bits(w[1], 8, 8)),
          .srsrc = static_cast<uint8_t>(bits(w[1], 16, 5) * 4),
          .soffset = static_cast<uint8_t>(bits(w[1], 24, 8)),
          .offset = static_cast<uint16_t>(bits(w[0], 0, 12)),
          .dfmt = static_cast<uint8_t>(bits(w[0], 19, 4)),
          .nfmt = static_cast<uint8_t>(bits(w[0], 23, 3)),
          .offen = bit(w[0], 12),
          .idxen = bit(w[0], 13),
          .acc = bit(w[1], 23),
          .cache = {bit(w[0], 14), bit(w[1], 22), bit(w[1], 21)}};
}

} // namespace asmevo::isa::fields
