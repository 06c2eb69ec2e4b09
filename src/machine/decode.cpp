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

/// Scalar ALU fields: destination, sources, immediate.
bool decode_salu(const isa::Instruction& i, const InstructionRow& row, DecodeContext context, Op& op) {
  const uint32_t word = i.words[0];
  unsigned sources = 0;
  op.imm = int16_t(word & 0xffff);
  switch (i.encoding) {
  case isa::Encoding::sop1:
    sources = 1, op.sdst = uint16_t(bits(word, 16, 7));
    break;
  case isa::Encoding::sop2:
    sources = 2, op.sdst = uint16_t(bits(word, 16, 7));
    break;
  case isa::Encoding::sopc:
    sources = 2;
    break;
  case isa::Encoding::sopk:
    op.sdst = uint16_t(bits(word, 16, 7));
    break;
  case isa::Encoding::sopp:
    break;
  default:
    return false;
  }
  // s_setreg_imm32_b32 is the one SOPK with a literal; it is its source 0.
  if (i.encoding == isa::Encoding::sopk && i.has_literal) op.ssrc[0] = context.pool.scalar(i.words[1]);
  bool refresh = false;
  for (unsigned k = 0; k < sources; ++k) {
    uint32_t code = bits(word, 8 * k, 8);
    bool wide = row.wide_sources >> k & 1;
    if (wide && code == 255 && row.wide_sources >> (4 + k) & 1)
      op.ssrc[k] = context.pool.scalar(uint64_t(int64_t(int32_t(i.words[1]))));
    else
      op.ssrc[k] = scalar_source(code, i.words[1], wide ? Format::s64 : Format::s32, context.pool);
    refresh |= needs_refresh(code);
    // s_set_gpr_idx_on names its enables in the field of source 1.
    if (k == 1) op.imm = int32_t(code);
  }
  if (refresh) {
    Stage& stage = context.pool.stages.emplace_back();
    stage.core = row.handler;
    op.stage = &stage;
    op.run = &run_refreshing;
  }
  return true;
}

// SMEM: imm 17, glc 16, soffset_en 14, sdata 12:6, sbase 5:0; second word: offset 20:0, soffset 31:25. Without imm and
// soffset_en the offset field names a register.
bool decode_smem(const isa::Instruction& i, const InstructionRow&, DecodeContext, Op& op) {
  const uint32_t word = i.words[0], second = i.words[1];
  op.sdst = uint16_t(bits(word, 6, 7));
  op.ssrc[0] = ScalarRef::sgpr(bits(word, 0, 6) * 2);
  op.flags = bits(word, 16, 1) ? memory_flag::glc : 0;
  bool immediate = bits(word, 17, 1), soffset = bits(word, 14, 1);
  if (immediate) op.imm = int32_t(second << 11) >> 11;
  if (soffset || !immediate) {
    op.flags |= memory_flag::has_soffset;
    op.ssrc[1] = ScalarRef::sgpr(soffset ? bits(second, 25, 7) : bits(second, 0, 7));
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

RowRef Pool::splat(uint64_t bits, uint32_t count) {
  auto [place, fresh] = splat_at_.emplace(std::pair(bits, count), uint32_t(rows.size()));
  for (uint32_t k = 0; fresh && k < count; ++k) {
    Row& row = rows.emplace_back();
    uint32_t dword = count == 2 && k == 1 ? uint32_t(bits >> 32) : uint32_t(bits);
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
