#include "analysis/kinds.h"

#include <algorithm>
#include <array>
#include <span>

namespace asmevo::analysis {
namespace {

using isa::Encoding;
using isa::Instruction;
using isa::Processor;

constexpr uint8_t not_asked = 0xff;

struct NameRow {
  std::string_view prefix;
  Kinds kinds;
};

/// By the beginning of the mnemonic; every row that matches counts.
constexpr std::array by_name = {
    NameRow{"v_accvgpr_read", kind::acc_read},
    NameRow{"v_accvgpr_write", kind::acc_write},
    NameRow{"v_dot", kind::dot},
    NameRow{"v_exp_", kind::trans},
    NameRow{"v_log_", kind::trans},
    NameRow{"v_rcp_", kind::trans},
    NameRow{"v_rsq_", kind::trans},
    NameRow{"v_sqrt_", kind::trans},
    NameRow{"v_sin_", kind::trans},
    NameRow{"v_cos_", kind::trans},
    NameRow{"v_permlane16_swap", kind::permlane_swap},
    NameRow{"v_permlane32_swap", kind::permlane_swap},
    NameRow{"v_readlane_b32", kind::readlane | kind::lane_select},
    NameRow{"v_readfirstlane_b32", kind::readlane},
    NameRow{"v_writelane_b32", kind::writelane | kind::lane_select},
    NameRow{"v_div_fmas", kind::div_fmas},
    NameRow{"v_fma_f64", kind::fma_f64},
    NameRow{"v_fmac_f64", kind::fma_f64},
    NameRow{"v_cmpx_", kind::cmpx},
    NameRow{"s_getreg_b32", kind::getreg},
    NameRow{"s_setreg_", kind::setreg},
    NameRow{"s_sendmsg", kind::reads_m0_late},
    NameRow{"s_ttracedata", kind::reads_m0_late},
    NameRow{"s_movrel", kind::reads_m0_late},
    NameRow{"ds_read_addtid_b32", kind::reads_m0_late},
    NameRow{"ds_write_addtid_b32", kind::reads_m0_late},
    NameRow{"ds_gws_", kind::reads_m0_late},
    NameRow{"ds_ordered_count", kind::reads_m0_late},
    NameRow{"s_setvskip", kind::vskip},
    // gfx950 writes fp4 a nibble pair at a time, whatever op_sel says.
    NameRow{"v_cvt_scalef32_pk_fp4_", kind::part_write},
    NameRow{"v_cvt_scalef32_sr_pk_fp4_", kind::part_write},
};

/// Conversions that choose a byte of the result with op_sel[3:2].
constexpr std::array<std::string_view, 4> byte_select = {"v_cvt_sr_fp8_", "v_cvt_sr_bf8_", "v_cvt_scalef32_sr_fp8_",
                                                         "v_cvt_scalef32_sr_bf8_"};

bool has_prefix(std::span<const std::string_view> prefixes, std::string_view name) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Kinds matrix_kinds(std::string_view name, Processor processor) {
  if (!name.starts_with("v_mfma_") && !name.starts_with("v_smfmac_")) return 0;
  if (name.starts_with("v_mfma_f64_"))
    return kind::matrix | kind::dgemm | (name.find("4x4x4") == 11 ? kind::dgemm_4x4 : 0);
  const bool single = name.ends_with("_f32") && processor >= Processor::gfx942;
  return kind::matrix | (single ? kind::sgemm : kind::xdl);
}

/// The destination's op_sel bit is bit 14 of a VOP3A word, and means something only for 16-bit and 8-bit results.
bool writes_a_part(const Instruction& i, std::string_view name) {
  if (i.suffix == isa::Suffix::sdwa) {
    const bool compare = i.encoding == Encoding::vopc; // the field holds a scalar destination there
    return !compare && (i.words[1] >> 8 & 7) != 6;     // dst_sel: 6 is the whole dword
  }
  if (i.encoding != Encoding::vop3a) return false;
  if ((i.words[0] >> 14 & 1) != 0) return true;
  return (i.words[0] >> 13 & 1) != 0 && has_prefix(byte_select, name);
}

bool reads_condition_zero(const Instruction& i) {
  const auto is_zero_flag = [](uint32_t source) { return source == 251 || source == 252; };
  switch (i.encoding) {
  case Encoding::vop1:
  case Encoding::vop2:
  case Encoding::vopc:
    return i.suffix == isa::Suffix::none && is_zero_flag(i.words[0] & 0x1ff);
  case Encoding::vop3a:
  case Encoding::vop3b:
  case Encoding::vop3p:
    return is_zero_flag(i.words[1] & 0x1ff) || is_zero_flag(i.words[1] >> 9 & 0x1ff) ||
           is_zero_flag(i.words[1] >> 18 & 0x1ff);
  default:
    return false;
  }
}

bool is_buffer(Encoding encoding) { return encoding == Encoding::mubuf || encoding == Encoding::mtbuf; }

/// A vector operand of more than 64 bits can only be the data: addresses have at most two registers.
Kinds store_kinds(const Instruction& i) {
  if (!i.traits.vmem || !i.traits.may_store) return 0;
  const bool wide = std::ranges::any_of(
      i.uses, [](const isa::RegisterRange& use) { return use.file != isa::File::sgpr && use.count > 2; });
  if (!wide) return 0;
  // soffset: an SGPR (M0 among them) or an inline constant.
  return is_buffer(i.encoding) && (i.words[1] >> 24) < 128 ? kind::wide_store_soffset : kind::wide_store;
}

bool sets_vskip(const Instruction& i) {
  constexpr unsigned mode = 1, vskip_bit = 28;
  if (hardware_register(i) != mode) return false;
  const unsigned first = i.words[0] >> 6 & 31, size = (i.words[0] >> 11 & 31) + 1;
  return first <= vskip_bit && vskip_bit < first + size;
}

bool has_f8_operand(const Instruction& i) {
  const size_t base = i.encoding == Encoding::vop3px2 ? 2 : 0;
  const uint32_t a = i.words[base] >> 8 & 7, b = i.words[base + 1] >> 29 & 7; // cbsz, blgp: 0 fp8, 1 bf8, then fp6, fp4
  return a < 2 || b < 2;
}

Class by_mnemonic(std::string_view name, Processor processor) {
  Class result;
  for (const NameRow& row : by_name)
    if (name.starts_with(row.prefix)) result.kinds |= row.kinds;
  result.kinds |= matrix_kinds(name, processor);
  result.passes = matrix_passes(name, processor, false);
  return result;
}

Kinds unit_kinds(const Instruction& i) {
  Kinds kinds = 0;
  if (i.traits.valu) kinds |= kind::valu | (i.traits.mfma ? 0 : kind::legacy_valu);
  if (i.traits.vmem) kinds |= kind::vmem;
  if (i.encoding == Encoding::ds) kinds |= kind::ds;
  if (i.traits.smem) kinds |= kind::smem;
  if (i.traits.salu) kinds |= kind::salu;
  return kinds;
}

} // namespace

uint8_t matrix_passes(std::string_view name, Processor processor, bool f8_operand) {
  const bool sparse = name.starts_with("v_smfmac_");
  if (!sparse && !name.starts_with("v_mfma_")) return 0;
  const bool has_32 = name.find("_32x32x") != std::string_view::npos,
             has_16 = name.find("_16x16x") != std::string_view::npos;
  if (name.starts_with("v_mfma_f64_")) {
    if (!has_16) return 4;
    return processor == Processor::gfx950 ? 16 : 8;
  }
  if (!has_32 && !has_16) return 2; // 4x4
  if (processor < Processor::gfx942) return has_32 ? 16 : 8;
  const uint8_t base = has_32 ? 8 : 4;
  const bool blocks = name.find("_2b_") != std::string_view::npos || name.find("_4b_") != std::string_view::npos;
  const bool slow = blocks || name.ends_with("_f32") || (name.ends_with("_f8f6f4") && f8_operand);
  return slow ? base * 2 : base;
}

Class Classifier::operator()(const Instruction& i) {
  if (i.mnemonic >= known_.size()) known_.resize(i.mnemonic + size_t{1}, Class{0, not_asked});
  Class& known = known_[i.mnemonic];
  const std::string_view name = name_of(i);
  if (known.passes == not_asked) known = by_mnemonic(name, processor_);

  Class result = known;
  result.kinds |= unit_kinds(i) | store_kinds(i);
  if (i.suffix == isa::Suffix::dpp) result.kinds |= kind::dpp;
  if (i.traits.vmem && i.traits.lds) result.kinds |= kind::reads_m0_late;
  if (i.encoding == Encoding::ds && (i.words[0] >> 16 & 1) != 0) result.kinds |= kind::reads_m0_late; // GDS
  if (result.is(kind::setreg) && sets_vskip(i)) result.kinds |= kind::vskip;
  if (!i.traits.valu) return result;
  if (writes_a_part(i, name)) result.kinds |= kind::part_write;
  if (reads_condition_zero(i)) result.kinds |= kind::reads_execz;
  if (result.is(kind::matrix) && name.ends_with("_f8f6f4"))
    result.passes = matrix_passes(name, processor_, has_f8_operand(i));
  return result;
}

} // namespace asmevo::analysis
