// Words that LLVM's decoder accepts and its printer then dies on: field values that the manual reserves. Such words are
// unknown here.
#pragma once

#include "isa/fields.h"

namespace asmevo::isa {

constexpr bool is_reserved(fields::Select select) { return static_cast<uint8_t>(select) > 6; }

/// SDWA selects of 7 and dst_unused of 3.
constexpr bool has_reserved_sdwa(const fields::Words& words, Encoding encoding) {
  const fields::Sdwa sdwa = fields::sdwa(words);
  if (is_reserved(sdwa.source0.select) || is_reserved(sdwa.source1.select)) return true;
  return encoding != Encoding::vopc && (is_reserved(sdwa.dst_select) || static_cast<uint8_t>(sdwa.dst_unused) > 2);
}

/// Lane moves that the DPP control does not name. The broadcast within a row came with gfx90a.
constexpr bool has_reserved_dpp(const fields::Words& words) {
  const uint16_t control = fields::dpp(words).dpp_ctrl;
  if (control < fields::dpp_row_shl) return false; // quad_perm takes all eight bits
  if (control < fields::dpp_wave_shl) return (control & 15) == 0;
  if (control < fields::dpp_row_mirror) return (control & 3) != 0;
  return control > fields::dpp_row_bcast31 && (control < fields::dpp_row_newbcast || control > 0x15f);
}

/// Sources that only a 32-bit encoding can have: SDWA, DPP and literals (GFX9 has no literals behind 64 bits).
constexpr bool is_reserved_in_64_bits(uint16_t source) {
  return source == fields::source_sdwa || source == fields::source_dpp || source == fields::source_literal;
}

constexpr bool has_reserved_sources(const fields::Words& words) {
  const fields::Vop3a vop3 = fields::vop3a(words);
  return is_reserved_in_64_bits(vop3.src0) || is_reserved_in_64_bits(vop3.src1) || is_reserved_in_64_bits(vop3.src2);
}

/// Eight bits hold the destination of compares and lane reads, and a scalar register has seven.
constexpr bool has_reserved_destination(const fields::Vop3a& vop3) {
  const bool scalar = vop3.op < 0x100 || vop3.op == 0x142 || vop3.op == 0x289; // VOPC, v_readfirstlane, v_readlane
  return scalar && vop3.vdst > exec_hi;
}

/// The f8f6f4 matrix instructions keep the element types of A and B in cbsz and blgp: five of eight values mean one. A
/// and B are vector registers.
constexpr bool has_reserved_types(const fields::Mai& mai) {
  if (mai.op != 0x2d && mai.op != 0x2e) return false;
  return mai.cbsz > 4 || mai.blgp > 4 || mai.src0 < fields::source_vgpr0 || mai.src1 < fields::source_vgpr0;
}

constexpr bool has_reserved_matrix_fields(const fields::Words& words) {
  if (has_reserved_types(fields::mai(words))) return true;
  if (fields::vop3p(words).op != encoding_detail::mfma_ld_scale) return false;
  const fields::Words second = {words[2], words[3], 0, 0};
  return has_reserved_types(fields::mai(second)) || has_reserved_sources(second);
}

constexpr bool has_reserved_fields(const fields::Words& words, Encoding encoding) {
  switch (encoding) {
  case Encoding::vop1:
    if (fields::vop1(words).op == 2 && fields::vop1(words).vdst > exec_hi) return true; // v_readfirstlane
    [[fallthrough]];
  case Encoding::vop2:
  case Encoding::vopc:
    if (fields::bits(words[0], 0, 9) == fields::source_dpp) return has_reserved_dpp(words);
    return fields::bits(words[0], 0, 9) == fields::source_sdwa && has_reserved_sdwa(words, encoding);
  case Encoding::vop3a:
    return has_reserved_sources(words) || has_reserved_destination(fields::vop3a(words));
  case Encoding::vop3b:
    return has_reserved_sources(words);
  case Encoding::vop3p:
  case Encoding::vop3p_mai:
    return has_reserved_sources(words) || has_reserved_matrix_fields(words);
  case Encoding::mubuf:
    return is_reserved_in_64_bits(fields::mubuf(words).soffset);
  case Encoding::mtbuf:
    return is_reserved_in_64_bits(fields::mtbuf(words).soffset);
  default:
    return false;
  }
}

} // namespace asmevo::isa
