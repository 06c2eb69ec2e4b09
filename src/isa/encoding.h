// Which GFX9 encoding a word begins, by the bits that select it.
//
// The selecting bits are a prefix code over the top of the first word: one clear bit for VOP2, two bits for SOP2, up to
// nine for SOP1, SOPC and SOPP; the longer prefixes are carved out of the shorter ones, so they are asked first.
// Source: CDNA3 ISA manual, "Microcode Formats"; opcodes of VOP3B and of the matrix instructions: LLVM's VOP3 tables.
#pragma once

#include "isa/instruction.h"

namespace asmevo::isa {

namespace encoding_detail {

/// VOP3 opcodes whose destination is followed by a scalar one (carry-out, division scale, mad with carry).
constexpr bool has_scalar_destination(uint32_t vop3_opcode) {
  return (vop3_opcode >= 0x119 && vop3_opcode <= 0x11e) || vop3_opcode == 0x1e0 || vop3_opcode == 0x1e1 ||
         vop3_opcode == 0x1e8 || vop3_opcode == 0x1e9;
}

/// VOP3P opcodes laid out as matrix instructions: MFMA, SMFMAC and the accumulator moves.
constexpr bool is_matrix(uint32_t vop3p_opcode) {
  return vop3p_opcode >= 0x40 || (vop3p_opcode >= 0x2d && vop3p_opcode <= 0x2e) ||
         (vop3p_opcode >= 0x34 && vop3p_opcode <= 0x3f);
}

constexpr uint32_t mfma_ld_scale = 0x2c; // first half of VOP3PX2

constexpr Encoding scalar_encoding(uint32_t word) { // bits [31:30] = 10
  switch (word >> 23) {
  case 0b101111101:
    return Encoding::sop1;
  case 0b101111110:
    return Encoding::sopc;
  case 0b101111111:
    return Encoding::sopp;
  default:
    return word >> 28 == 0b1011 ? Encoding::sopk : Encoding::sop2;
  }
}

constexpr Encoding vop3_encoding(uint32_t word) { // bits [31:26] = 110100
  if (word >> 23 != 0b110100111) return has_scalar_destination(word >> 16 & 0x3ff) ? Encoding::vop3b : Encoding::vop3a;
  return is_matrix(word >> 16 & 0x7f) ? Encoding::vop3p_mai : Encoding::vop3p;
}

constexpr Encoding flat_encoding(uint32_t word) { // bits [31:26] = 110111
  constexpr Encoding segments[] = {Encoding::flat, Encoding::scratch, Encoding::global, Encoding::unknown};
  return segments[word >> 14 & 3];
}

} // namespace encoding_detail

/// The encoding that `word` begins. VOP3PX2 is told from VOP3P by the opcode of its first half alone.
constexpr Encoding encoding_of(uint32_t word) {
  using namespace encoding_detail;
  if (word >> 31 == 0) {
    if (word >> 25 == 0b0111111) return Encoding::vop1;
    return word >> 25 == 0b0111110 ? Encoding::vopc : Encoding::vop2;
  }
  if (word >> 30 == 0b10) return scalar_encoding(word);
  switch (word >> 26) {
  case 0b110000:
    return Encoding::smem;
  case 0b110001:
    return Encoding::exp;
  case 0b110100:
    return vop3_encoding(word);
  case 0b110101:
    return Encoding::vintrp;
  case 0b110110:
    return Encoding::ds;
  case 0b110111:
    return flat_encoding(word);
  case 0b111000:
    return Encoding::mubuf;
  case 0b111010:
    return Encoding::mtbuf;
  case 0b111100:
    return Encoding::mimg;
  default:
    return Encoding::unknown;
  }
}

/// Bytes without literal, SDWA or DPP word.
constexpr uint8_t base_size(Encoding encoding) {
  switch (encoding) {
  case Encoding::sop1:
  case Encoding::sop2:
  case Encoding::sopk:
  case Encoding::sopc:
  case Encoding::sopp:
  case Encoding::vop1:
  case Encoding::vop2:
  case Encoding::vopc:
  case Encoding::vintrp:
  case Encoding::unknown:
    return 4;
  case Encoding::vop3px2:
    return 16;
  default:
    return 8;
  }
}

} // namespace asmevo::isa
