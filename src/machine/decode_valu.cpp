// Operands of the vector ALU: VOP1, VOP2, VOPC, VOP3, VOP3P and the matrix instructions, plain or with SDWA or DPP.
//
// The encodings differ in where a field is and in which modifiers exist; what the fields mean is the row's signature.
// So decoding goes in two steps: gather the fields of whatever encoding it is into one form, then walk the signature.
#include "machine/decode.h"

#include <algorithm>

namespace asmevo::machine {

namespace {

namespace fields = isa::fields;
using fields::source_vgpr0;

/// One source field and its own modifiers.
struct SourceField {
  uint32_t code = 0; // 9 bits
  bool agpr = false;
  bool neg = false, abs = false, op_sel = false, op_sel_hi = true;
  Select select = Select::dword;
  bool sign_extend = false;
};

/// The fields of one instruction, whatever its encoding.
struct Fields {
  SourceField source[3];
  unsigned sources = 0;
  bool short_form = false; // VOP1, VOP2, VOPC: a mask is VCC
  bool packed = false;     // VOP3P
  uint32_t vdst = 0;
  bool dst_agpr = false;
  uint32_t sdst = isa::vcc_lo;
  bool clamp = false, op_sel_dst = false;
  uint32_t omod = 0;
  Select dst_select = Select::dword;
  uint8_t dst_unused = 0;
  fields::Dpp dpp{};
  bool has_dpp = false;
  uint32_t cbsz = 0, abid = 0, blgp = 0;
};

void set_sdwa(SourceField& source, uint32_t number, const fields::SdwaSource& sdwa) {
  source.code = sdwa.sgpr ? number : source_vgpr0 + number;
  source.select = Select(sdwa.select);
  source.sign_extend = sdwa.sext;
  source.neg = sdwa.neg;
  source.abs = sdwa.abs;
}

void gather_sdwa(const isa::Instruction& i, Fields& f) {
  const fields::Sdwa sdwa = fields::sdwa(i.words);
  set_sdwa(f.source[0], sdwa.src0, sdwa.source0);
  if (f.sources > 1) set_sdwa(f.source[1], f.source[1].code - source_vgpr0, sdwa.source1);
  if (i.encoding == isa::Encoding::vopc) {
    const fields::Sdwab compare = fields::sdwab(i.words);
    if (compare.has_sdst) f.sdst = compare.sdst;
    return;
  }
  f.dst_select = Select(sdwa.dst_select);
  f.dst_unused = uint8_t(sdwa.dst_unused);
  f.clamp = sdwa.clamp;
  f.omod = sdwa.omod;
}

void gather_dpp(const isa::Instruction& i, Fields& f) {
  f.dpp = fields::dpp(i.words);
  f.has_dpp = true;
  f.source[0].code = source_vgpr0 + f.dpp.src0;
  f.source[0].neg = f.dpp.src0_neg, f.source[0].abs = f.dpp.src0_abs;
  f.source[1].neg = f.dpp.src1_neg, f.source[1].abs = f.dpp.src1_abs;
}

void gather_short(const isa::Instruction& i, Fields& f) {
  const fields::Vop2 vop2 = fields::vop2(i.words); // src0, vsrc1 and vdst lie in the same places in all three
  f.short_form = true;
  f.source[0].code = vop2.src0;
  f.source[1].code = source_vgpr0 + vop2.vsrc1;
  f.sources = i.encoding == isa::Encoding::vop1 ? 1 : 2;
  f.vdst = vop2.vdst;
  if (vop2.src0 == fields::source_sdwa) gather_sdwa(i, f);
  if (vop2.src0 == fields::source_dpp) gather_dpp(i, f);
  if (isa::name_of(i) == "v_accvgpr_mov_b32") f.dst_agpr = f.source[0].agpr = true;
}

template <class Vop3> void set_vop3(const Vop3& vop3, Fields& f) {
  f.sources = 3;
  f.vdst = vop3.vdst;
  f.clamp = vop3.clamp;
  f.source[0].code = vop3.src0, f.source[1].code = vop3.src1, f.source[2].code = vop3.src2;
}

void gather_vop3a(const isa::Instruction& i, Fields& f) {
  const fields::Vop3a vop3 = fields::vop3a(i.words);
  set_vop3(vop3, f);
  f.omod = vop3.omod;
  f.sdst = vop3.vdst;
  f.op_sel_dst = vop3.op_sel >> 3 & 1;
  for (unsigned k = 0; k < 3; ++k) {
    f.source[k].neg = vop3.neg >> k & 1;
    f.source[k].abs = vop3.abs >> k & 1;
    f.source[k].op_sel = vop3.op_sel >> k & 1;
  }
  // Two instructions of 32 bits use op_sel as a number: the byte of their last source that holds the shift.
  const std::string_view name = isa::name_of(i);
  if (name == "v_alignbit_b32" || name == "v_alignbyte_b32")
    if (const uint32_t byte = vop3.op_sel & 3) f.source[2].select = Select(byte);
}

void gather_vop3b(const isa::Instruction& i, Fields& f) {
  const fields::Vop3b vop3 = fields::vop3b(i.words);
  set_vop3(vop3, f);
  f.omod = vop3.omod;
  f.sdst = vop3.sdst;
  for (unsigned k = 0; k < 3; ++k) f.source[k].neg = vop3.neg >> k & 1;
}

void gather_vop3p(const isa::Instruction& i, Fields& f) {
  const fields::Vop3p vop3 = fields::vop3p(i.words);
  set_vop3(vop3, f);
  f.packed = true;
  for (unsigned k = 0; k < 3; ++k) {
    SourceField& s = f.source[k];
    s.neg = vop3.neg_lo >> k & 1;
    s.abs = vop3.neg_hi >> k & 1;
    s.op_sel = vop3.op_sel >> k & 1;
    s.op_sel_hi = vop3.op_sel_hi >> k & 1;
  }
}

void gather_matrix(const fields::Mai& mai, std::string_view name, const isa::Target& target, Fields& f) {
  f.sources = 3;
  f.vdst = mai.vdst;
  f.cbsz = mai.cbsz, f.abid = mai.abid, f.blgp = mai.blgp;
  f.source[0].code = mai.src0, f.source[1].code = mai.src1, f.source[2].code = mai.src2;
  f.source[0].agpr = mai.acc_a;
  f.source[1].agpr = mai.acc_b;
  if (name == "v_accvgpr_read_b32") {
    f.source[0].agpr = true;
  } else if (name == "v_accvgpr_write_b32") {
    f.dst_agpr = true;
    f.source[0].agpr = false;
  } else {
    // gfx908 accumulates in AGPRs only. The index of a sparse matrix is a plain VGPR.
    f.dst_agpr = !target.unified_registers() || mai.acc_cd;
    f.source[2].agpr = f.dst_agpr && !name.starts_with("v_smfmac");
  }
}

bool gather(const isa::Instruction& i, const isa::Target& target, Fields& f) {
  switch (i.encoding) {
  case isa::Encoding::vop1:
  case isa::Encoding::vop2:
  case isa::Encoding::vopc:
    gather_short(i, f);
    return true;
  case isa::Encoding::vop3a:
    gather_vop3a(i, f);
    return true;
  case isa::Encoding::vop3b:
    gather_vop3b(i, f);
    return true;
  case isa::Encoding::vop3p:
    gather_vop3p(i, f);
    return true;
  case isa::Encoding::vop3p_mai:
    gather_matrix(fields::mai(i.words), isa::name_of(i), target, f);
    return true;
  case isa::Encoding::vop3px2:
    gather_matrix(fields::vop3px2(i.words).mai, isa::name_of(i), target, f);
    return true;
  default:
    return false;
  }
}

bool is_float(Format f) {
  return f == Format::f16 || f == Format::f32 || f == Format::f64 || f == Format::bf16 || f == Format::pf16 ||
         f == Format::pf32;
}
bool is_half(Format f) { return f == Format::b16 || f == Format::f16 || f == Format::bf16; }
bool is_packed(Format f) { return f == Format::p16 || f == Format::pf16 || f == Format::p32 || f == Format::pf32; }
bool is_scalar(Format f) { return f == Format::mask || f == Format::s32 || f == Format::s64; }

/// The lane that `lane` reads under a dpp_ctrl: -1 where that is outside the row or wave, -2 for an unknown control.
/// Source: CDNA3 ISA manual, "DPP"; LLVM SIDefines.h, DppCtrl.
int dpp_source(uint32_t control, int lane) {
  const int row = lane & ~15, in_row = lane & 15, amount = int(control & 15);
  auto within_row = [&](int at) { return at >= 0 && at < 16 ? row + at : -1; };
  if (control <= 0xff) return (lane & ~3) + int(control >> (2 * (lane & 3)) & 3); // quad_perm
  if (control > 0x100 && control <= 0x10f) return within_row(in_row + amount);    // row_shl
  if (control > 0x110 && control <= 0x11f) return within_row(in_row - amount);    // row_shr
  if (control > 0x120 && control <= 0x12f) return row + ((in_row - amount) & 15); // row_ror
  if (control >= 0x150 && control <= 0x15f) return row + amount;                  // row_newbcast
  switch (control) {
  case 0x130:
    return lane + 1 < 64 ? lane + 1 : -1; // wave_shl
  case 0x134:
    return (lane + 1) & 63; // wave_rol
  case 0x138:
    return lane - 1; // wave_shr
  case 0x13c:
    return (lane - 1) & 63; // wave_ror
  case 0x140:
    return row + 15 - in_row; // row_mirror
  case 0x141:
    return (lane & ~7) + 7 - (lane & 7); // row_half_mirror
  case 0x142:
    return lane < 16 ? -1 : row - 1; // row_bcast:15
  case 0x143:
    return lane < 32 ? -1 : 31; // row_bcast:31
  default:
    return -2;
  }
}

bool lanes_of_dpp(const fields::Dpp& field, Dpp& dpp) {
  dpp = {};
  dpp.bound_control = field.bound_ctrl;
  dpp.row_local = true;
  for (int lane = 0; lane < int(lanes); ++lane) {
    int from = dpp_source(field.dpp_ctrl, lane);
    if (from == -2) return false;
    dpp.from[lane] = uint8_t(from < 0 ? lane : from);
    if (from >= 0) dpp.valid |= uint64_t{1} << lane;
    bool enabled = (field.row_mask >> (lane / 16) & 1) && (field.bank_mask >> (lane / 4 % 4) & 1);
    if (enabled) dpp.enabled |= uint64_t{1} << lane;
    dpp.within_row.lane[lane] = uint32_t(dpp.from[lane] & 15);
    dpp.row_local &= dpp.from[lane] / 16 == lane / 16;
    dpp.valid_lanes.lane[lane] = from >= 0 ? ~0u : 0u;
  }
  return true;
}

/// Walks the signature and builds the op, with a stage where one is needed.
struct Builder {
  const isa::Instruction& instruction;
  const InstructionRow& row;
  DecodeContext context;
  const Fields& gathered;
  Op& op;
  Stage stage{};
  bool staged = false;
  unsigned field = 0; // next source field

  uint32_t literal() const { return fields::literal(instruction.words); }

  bool scalar_operand(unsigned k, Format format) {
    uint32_t code =
        format == Format::mask && gathered.short_form ? uint32_t(isa::vcc_lo) : gathered.source[field++].code;
    if (code >= source_vgpr0) return false;
    op.ssrc[k] = scalar_source(code, literal(), format, context.pool);
    if (needs_refresh(code)) stage.refresh = staged = true;
    return true;
  }

  void modify(unsigned k, Format format, const SourceField& s, SourceStage& to) {
    if (gathered.has_dpp && k == 0) staged = true, to.rows = uint8_t(std::max(1u, rows_of(format)));
    to.select = s.select;
    to.sign_extend = s.sign_extend;
    bool changes = s.select != Select::dword || s.sign_extend;
    if (!row.signature.raw) {
      if (is_packed(format) && gathered.packed) {
        to.low_from_high = s.op_sel;
        to.high_from_low = !s.op_sel_hi;
        changes |= s.op_sel || !s.op_sel_hi;
        if (is_float(format)) to.neg = s.neg, to.neg_hi = s.abs, changes |= s.neg || s.abs;
      } else {
        if (is_half(format) && s.op_sel) to.low_from_high = changes = true;
        if (is_float(format)) to.neg = s.neg, to.abs = s.abs, changes |= s.neg || s.abs;
      }
    }
    if (changes) staged = true, to.rows = uint8_t(rows_of(format));
  }

  bool vector_operand(unsigned k, Operand operand) {
    const SourceField& s = gathered.source[field++];
    const uint32_t rows = rows_of(operand);
    SourceStage& to = stage.source[k];
    to.format = operand.format;
    if (s.code >= source_vgpr0) {
      to.from = RowRef::of(s.agpr ? RowSpace::agpr : RowSpace::vgpr, s.code - source_vgpr0);
    } else if (is_constant_code(s.code)) {
      const uint32_t dwords = rows == 1 ? 1 : rows == 2 ? 2 : rows_of(Operand(operand.format)); // a matrix has many
      to.from = context.pool.splat(constant_bits(s.code, literal(), operand.format), rows, dwords);
    } else {
      if (s.code == fields::source_lds_direct || rows > 2) return false; // lds_direct; a matrix from scalar registers
      to.splat = staged = true;
      to.rows = uint8_t(rows);
      to.scalar = scalar_source(s.code, literal(), operand.format, context.pool);
      to.from = RowRef::of(RowSpace::staging, staging_source(k));
      if (needs_refresh(s.code)) stage.refresh = true;
    }
    modify(k, operand.format, s, to);
    op.src[k] = to.rows ? RowRef::of(RowSpace::staging, staging_source(k)) : to.from;
    return true;
  }

  bool source(unsigned k) {
    const Operand operand = row.signature.src[k];
    if (operand.format == Format::k16 || operand.format == Format::k32) {
      op.src[k] = context.pool.splat(literal(), 1, 1);
      return true;
    }
    if (is_scalar(operand.format)) return scalar_operand(k, operand.format);
    return field < gathered.sources && vector_operand(k, operand);
  }

  void result() {
    const Operand dst = row.signature.dst;
    op.sdst = uint16_t(gathered.short_form && dst.format == Format::s32 ? gathered.vdst : gathered.sdst);
    op.dst = RowRef::of(gathered.dst_agpr ? RowSpace::agpr : RowSpace::vgpr, gathered.vdst);
    ResultStage& to = stage.result;
    to.to = op.dst;
    to.format = dst.format;
    to.rows = uint8_t(rows_of(dst));
    if (is_scalar(dst.format) || dst.format == Format::none) {
      to.rows = 0;
      return;
    }
    if (!row.signature.raw && is_float(dst.format) && (gathered.clamp || gathered.omod)) {
      to.omod = uint8_t(gathered.omod);
      to.clamp = gathered.clamp;
      staged = true;
    }
    bool high_half = !row.signature.raw && is_half(dst.format) && gathered.op_sel_dst;
    if (gathered.dst_select != Select::dword || high_half) {
      to.redirected = staged = true;
      to.select = high_half ? Select::word1 : gathered.dst_select;
      to.unused = high_half ? 2 : gathered.dst_unused;
      op.dst = RowRef::of(RowSpace::staging, staging_result);
    }
  }

  /// First half of VOP3PX2: the scale operands and which of their bytes counts.
  void scales() {
    const fields::Vop3px2 px2 = fields::vop3px2(instruction.words);
    const uint32_t codes[] = {px2.scale_a, px2.scale_b};
    stage.scale_select[0] = px2.scale_a_byte, stage.scale_select[1] = px2.scale_b_byte;
    for (unsigned k = 0; k < 2; ++k) {
      if (codes[k] >= source_vgpr0) {
        stage.scale[k] = RowRef::of(RowSpace::vgpr, codes[k] - source_vgpr0);
      } else if (is_constant_code(codes[k])) {
        stage.scale[k] = context.pool.splat(constant_bits(codes[k], 0, Format::b32), 1, 1);
      } else {
        stage.scale[k] = RowRef::of(RowSpace::staging, staging_scratch + k);
        stage.scale_scalar[k] = scalar_source(codes[k], 0, Format::b32, context.pool);
        stage.scale_splat |= uint8_t(1u << k);
      }
    }
    staged = true;
  }

  void modifiers() {
    uint32_t neg = 0, abs = 0, op_sel = gathered.op_sel_dst ? 8 : 0, op_sel_hi = 0;
    for (unsigned k = 0; k < 3; ++k) {
      const SourceField& s = gathered.source[k];
      neg |= uint32_t(s.neg) << k, abs |= uint32_t(s.abs) << k;
      op_sel |= uint32_t(s.op_sel) << k, op_sel_hi |= uint32_t(s.op_sel_hi) << k;
    }
    op.modifiers = Modifiers::pack(neg, abs, op_sel, op_sel_hi, gathered.omod, gathered.clamp);
    op.modifiers.bits |= gathered.cbsz << 16 | gathered.abid << 19 | gathered.blgp << 23;
  }

  /// Whether source k needs no more than a splat, neg or abs of one row.
  static bool simple(const SourceStage& s) {
    return s.rows == 1 && s.format != Format::p16 && s.format != Format::pf16 && s.select == Select::dword &&
           !s.sign_extend && !s.low_from_high && !s.high_from_low;
  }

  /// What most staged instructions need has short runners of its own, or a handler that does without.
  void choose_runner() {
    const StageRunners& runners = stage_runners();
    op.run = runners.general;
    const bool more = stage.refresh || stage.result.redirected || stage.result.omod || stage.result.clamp ||
                      stage.scale_splat || instruction.encoding == isa::Encoding::vop3px2;
    if (more) return;
    unsigned sources = 0, splats = 0, signs = 0, splatted = 0;
    for (unsigned k = 0; k < 3; ++k) {
      const SourceStage& s = stage.source[k];
      if (!s.rows) continue;
      if (!simple(s)) return;
      ++sources, splats += s.splat, signs += s.neg || s.abs;
      if (s.splat) splatted = k;
    }
    if (stage.approximate || stage.has_dpp) {
      if (stage.approximate && !stage.has_dpp && sources == 0) op.run = runners.count;
      if (stage.has_dpp && !stage.approximate && sources == 1 && !splats && !signs) op.run = runners.dpp;
      return;
    }
    op.run = runners.signs;
    if (signs && row.signs && splats <= 1) {
      stage.core = op.run = row.signs;
      for (unsigned k = 0; k < 3; ++k) {
        SourceStage& s = stage.source[k];
        if (s.rows && !s.splat) op.src[k] = s.from, s.rows = 0;
      }
      signs = 0, sources = splats;
    }
    if (splats == 1 && sources == 1 && !signs) {
      op.run = runners.splat[splatted];
      op.src[splatted] = splat_row(stage.source[splatted].scalar);
    }
  }

  bool build() {
    for (unsigned k = 0; k < 3 && row.signature.src[k].format != Format::none; ++k)
      if (!source(k)) return false;
    result();
    modifiers();
    op.imm = int32_t(literal());
    if (instruction.encoding == isa::Encoding::vop3px2) scales();
    stage.has_dpp = gathered.has_dpp;
    if (gathered.has_dpp && !lanes_of_dpp(gathered.dpp, stage.dpp)) return false;
    stage.approximate = row.support == Support::approximate;
    staged |= stage.has_dpp || stage.approximate;
    if (!staged) return true;
    stage.core = row.handler;
    choose_runner();
    if (op.run != row.signs) op.stage = &context.pool.stages.emplace_back(stage);
    return true;
  }
};

} // namespace

bool decode_valu(const isa::Instruction& i, const InstructionRow& row, DecodeContext context, Op& op) {
  Fields gathered;
  if (!gather(i, context.target, gathered)) return false;
  return Builder{i, row, context, gathered, op}.build();
}

} // namespace asmevo::machine
