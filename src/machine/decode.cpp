#include "machine/decode.h"

#include "isa/resources.h"

#include <bit>

namespace asmevo::machine {

namespace {

// Inline float constants 240-248: 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi).
constexpr uint64_t f64_constants[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                      0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                      0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};
constexpr uint32_t f32_constants[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                      0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
constexpr uint16_t f16_constants[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
constexpr uint16_t bf16_constants[] = {0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4080, 0xc080, 0x3e23};

bool is_64(Format f) { return f == Format::b64 || f == Format::f64 || f == Format::s64 || f == Format::mask; }

uint64_t float_constant(uint32_t index, Format format) {
  switch (format) {
  case Format::f16:
  case Format::pf16:
  case Format::k16:
    return f16_constants[index];
  case Format::bf16:
    return bf16_constants[index];
  default:
    return is_64(format) ? f64_constants[index] : f32_constants[index];
  }
}

uint32_t slot_of(uint32_t code) {
  switch (code) {
  case 235:
    return slot::shared_base;
  case 236:
    return slot::shared_limit;
  case 237:
    return slot::private_base;
  case 238:
    return slot::private_limit;
  case 239:
    return slot::pops;
  case 251:
    return slot::vccz;
  case 252:
    return slot::execz;
  case 253:
    return slot::scc;
  default:
    return code;
  }
}

/// Scalar ALU fields: destination, source codes, immediate.
struct ScalarFields {
  uint32_t source[2] = {};
  unsigned sources = 0;
  uint32_t sdst = 0;
  int32_t immediate = 0;
};

bool gather_scalar(const isa::Instruction& i, ScalarFields& f) {
  namespace fields = isa::fields;
  switch (i.encoding) {
  case isa::Encoding::sop1: {
    const fields::Sop1 sop1 = fields::sop1(i.words);
    f = {{sop1.ssrc0}, 1, sop1.sdst, 0};
    return true;
  }
  case isa::Encoding::sop2: {
    const fields::Sop2 sop2 = fields::sop2(i.words);
    f = {{sop2.ssrc0, sop2.ssrc1}, 2, sop2.sdst, 0};
    return true;
  }
  case isa::Encoding::sopc: { // s_set_gpr_idx_on has its enables where others have source 1
    const fields::Sopc sopc = fields::sopc(i.words);
    f = {{sopc.ssrc0, sopc.ssrc1}, 2, 0, sopc.ssrc1};
    return true;
  }
  case isa::Encoding::sopk: {
    const fields::Sopk sopk = fields::sopk(i.words);
    f = {{}, 0, sopk.sdst, sopk.simm16};
    return true;
  }
  case isa::Encoding::sopp:
    f.immediate = fields::sopp(i.words).simm16;
    return true;
  default:
    return false;
  }
}

bool decode_salu(const isa::Instruction& i, const InstructionRow& row, DecodeContext context, Op& op) {
  ScalarFields f;
  if (!gather_scalar(i, f)) return false;
  op.sdst = uint16_t(f.sdst);
  op.imm = f.immediate;
  const uint32_t literal = isa::fields::literal(i.words);
  // s_setreg_imm32_b32 is the one SOPK with a literal; it is its source 0.
  if (i.encoding == isa::Encoding::sopk && i.has_literal) op.ssrc[0] = context.pool.scalar(literal);
  bool refresh = false;
  for (unsigned k = 0; k < f.sources; ++k) {
    const bool wide = row.wide_sources >> k & 1, sign_extends = row.wide_sources >> (4 + k) & 1;
    if (wide && sign_extends && f.source[k] == isa::fields::source_literal)
      op.ssrc[k] = context.pool.scalar(uint64_t(int64_t(int32_t(literal))));
    else
      op.ssrc[k] = scalar_source(f.source[k], literal, wide ? Format::s64 : Format::s32, context.pool);
    refresh |= needs_refresh(f.source[k]);
  }
  if (!refresh) return true;
  Stage& stage = context.pool.stages.emplace_back();
  stage.core = row.handler;
  op.stage = &stage;
  op.run = &run_refreshing;
  return true;
}

bool decode_smem(const isa::Instruction& i, const InstructionRow&, DecodeContext, Op& op) {
  const isa::fields::Smem smem = isa::fields::smem(i.words);
  op.sdst = smem.sdata;
  op.ssrc[0] = ScalarRef::sgpr(smem.sbase);
  op.flags = smem.glc ? memory_flag::glc : 0;
  if (smem.imm) op.imm = smem.offset;
  if (smem.soffset_en || smem.offset_is_sgpr()) {
    op.flags |= memory_flag::has_soffset;
    op.ssrc[1] = ScalarRef::sgpr(smem.soffset_en ? smem.soffset : smem.offset_sgpr());
  }
  return true;
}

bool decode_operands(const isa::Instruction& i, const InstructionRow& row, DecodeContext context, Op& op) {
  switch (row.shape) {
  case Shape::valu:
    return decode_valu(i, row, context, op);
  case Shape::salu:
    return decode_salu(i, row, context, op);
  case Shape::smem:
    return decode_smem(i, row, context, op);
  case Shape::ds:
    return decode_ds(i, row, context, op);
  case Shape::flat:
    return decode_flat(i, row, context, op);
  case Shape::buffer:
    return decode_buffer(i, row, context, op);
  }
  return false;
}

} // namespace

uint64_t constant_bits(uint32_t code, uint32_t literal, Format format) {
  if (code == 255) return format == Format::f64 ? uint64_t{literal} << 32 : literal;
  if (code >= 240) return float_constant(code - 240, format);
  int64_t value = code <= 192 ? int64_t(code) - 128 : 192 - int64_t(code);
  return is_64(format) ? uint64_t(value) : uint32_t(value);
}

ScalarRef scalar_source(uint32_t code, uint32_t literal, Format format, Pool& pool) {
  if (is_constant_code(code)) return pool.scalar(constant_bits(code, literal, format));
  return ScalarRef::sgpr(code < 128 || code >= 235 ? slot_of(code) : slot::pops);
}

RowRef Pool::splat(uint64_t bits, uint32_t count, uint32_t dwords) {
  auto [place, fresh] = splat_at_.emplace(std::tuple(bits, count, dwords), uint32_t(rows.size()));
  for (uint32_t k = 0; fresh && k < count; ++k) {
    Row& row = rows.emplace_back();
    uint32_t dword = dwords == 2 && k % 2 ? uint32_t(bits >> 32) : uint32_t(bits);
    for (uint32_t& lane : row.lane) lane = dword;
  }
  return RowRef::of(RowSpace::constant, place->second);
}

ScalarRef Pool::scalar(uint64_t bits) {
  auto [place, fresh] = scalar_at_.emplace(bits, uint32_t(scalars.size()));
  if (fresh) {
    scalars.push_back(uint32_t(bits));
    scalars.push_back(uint32_t(bits >> 32));
  }
  return ScalarRef::constant(place->second);
}

Op decode_op(const isa::Instruction& instruction, DecodeContext context) {
  Op op;
  op.run = &run_unsupported;
  const InstructionRow* row = find_row(isa::name_of(instruction), context.target.processor);
  if (!row || instruction.encoding == isa::Encoding::unknown) return op;
  op.width = row->width;
  op.run = row->handler;
  if (!decode_operands(instruction, *row, context, op)) op = Op{.run = &run_unsupported};
  return op;
}

RowsUsed rows_used(const isa::Instruction& instruction) {
  RowsUsed used;
  auto reach = [&](const isa::RegisterRange& range) {
    uint16_t end = uint16_t(range.first + range.count);
    if (range.file == isa::File::vgpr) used.vgpr = std::max(used.vgpr, end);
    if (range.file == isa::File::agpr) used.agpr = std::max(used.agpr, end);
  };
  for (const auto& range : instruction.defs) reach(range);
  for (const auto& range : instruction.uses) reach(range);
  return used;
}

} // namespace asmevo::machine
