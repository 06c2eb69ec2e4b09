// Operands of DS, FLAT/GLOBAL/SCRATCH and MUBUF/MTBUF.
#include "machine/decode.h"

namespace asmevo::machine {

namespace {

/// Data registers are AGPRs where the accumulator bit is set, which gfx90a introduced.
RowRef data_row(uint32_t number, bool accumulator, const isa::Target& target) {
  return RowRef::of(accumulator && target.unified_registers() ? RowSpace::agpr : RowSpace::vgpr, number);
}

RowRef vgpr(uint32_t number) { return RowRef::of(RowSpace::vgpr, number); }

} // namespace

// DS: acc 25, gds 16, offset1 15:8, offset0 7:0; second word: vdst 31:24, data1 23:16, data0 15:8, addr 7:0.
bool decode_ds(const isa::Instruction& i, const InstructionRow&, DecodeContext context, Op& op) {
  const uint32_t word = i.words[0], second = i.words[1];
  const bool acc = bits(word, 25, 1);
  op.dst = data_row(bits(second, 24, 8), acc, context.target);
  op.src[0] = vgpr(bits(second, 0, 8));
  op.src[1] = data_row(bits(second, 8, 8), acc, context.target);
  op.src[2] = data_row(bits(second, 16, 8), acc, context.target);
  op.imm = int32_t(bits(word, 0, 16));
  op.flags = bits(word, 16, 1) ? memory_flag::gds : 0;
  return !bits(word, 16, 1) || i.traits.side_effects; // GDS memory does not exist here; GWS goes to its own rows
}

// FLAT: sc1/scc 25, nt/slc 17, sc0/glc 16, segment 15:14, lds or sve 13, offset 12:0; second word: vdst 31:24, acc 23,
// saddr 22:16, data 15:8, addr 7:0.
bool decode_flat(const isa::Instruction& i, const InstructionRow&, DecodeContext context, Op& op) {
  const uint32_t word = i.words[0], second = i.words[1];
  const bool acc = bits(second, 23, 1), bit13 = bits(word, 13, 1);
  const bool gfx940 = context.target.processor >= isa::Processor::gfx942;
  const bool scratch = i.encoding == isa::Encoding::scratch;
  const uint32_t saddr = bits(second, 16, 7);
  op.dst = data_row(bits(second, 24, 8), acc, context.target);
  op.src[0] = vgpr(bits(second, 0, 8));
  op.src[1] = data_row(bits(second, 8, 8), acc, context.target);
  const uint32_t offset = bits(word, 0, 13);
  op.imm = i.encoding == isa::Encoding::flat ? int32_t(bits(word, 0, 12)) : int32_t(offset << 19) >> 19;
  if (bits(word, 16, 1)) op.flags |= memory_flag::glc;
  const bool has_saddr = i.encoding != isa::Encoding::flat && saddr != 0x7f;
  if (has_saddr) {
    op.flags |= memory_flag::has_saddr;
    op.ssrc[0] = ScalarRef::sgpr(saddr);
  }
  // gfx940 says with a bit whether scratch has a vector address; before, it had one exactly without a scalar one.
  if (!scratch || (gfx940 ? bit13 : !has_saddr)) op.flags |= memory_flag::has_vaddr;
  if (!gfx940 && bit13) op.flags |= memory_flag::lds;
  return true;
}

// MUBUF: slc 17, lds 16, glc 14, idxen 13, offen 12, offset 11:0; second word: soffset 31:24, acc/tfe 23, srsrc 20:16,
// vdata 15:8, vaddr 7:0. MTBUF has nfmt 25:23 and dfmt 22:19 instead of lds and a wide opcode.
bool decode_buffer(const isa::Instruction& i, const InstructionRow&, DecodeContext context, Op& op) {
  const uint32_t word = i.words[0], second = i.words[1];
  const bool acc = bits(second, 23, 1), typed = i.encoding == isa::Encoding::mtbuf;
  if (acc && !context.target.unified_registers()) return false; // texture fail enable
  op.dst = data_row(bits(second, 8, 8), acc, context.target);
  op.src[1] = op.dst;
  op.src[0] = vgpr(bits(second, 0, 8));
  op.ssrc[0] = ScalarRef::sgpr(bits(second, 16, 5) * 4);
  op.ssrc[1] = scalar_source(bits(second, 24, 8), 0, Format::s32, context.pool);
  op.imm = int32_t(bits(word, 0, 12));
  if (bits(word, 14, 1)) op.flags |= memory_flag::glc;
  if (bits(word, 13, 1)) op.flags |= memory_flag::idxen;
  if (bits(word, 12, 1)) op.flags |= memory_flag::offen;
  if (!typed && bits(word, 16, 1)) op.flags |= memory_flag::lds;
  if (typed) op.sdst = uint16_t(bits(word, 19, 4) | bits(word, 23, 3) << 4); // dfmt 3:0, nfmt 6:4
  return true;
}

} // namespace asmevo::machine
