// Operands of DS, FLAT/GLOBAL/SCRATCH and MUBUF/MTBUF.
#include "machine/decode.h"

namespace asmevo::machine {

namespace {

/// Data registers are AGPRs where the accumulator bit is set, which gfx90a introduced.
RowRef data_row(uint32_t number, bool accumulator, const isa::Target& target) {
  return RowRef::of(accumulator && target.unified_registers() ? RowSpace::agpr : RowSpace::vgpr, number);
}

RowRef vgpr(uint32_t number) { return RowRef::of(RowSpace::vgpr, number); }

/// Before gfx942 a bit of an ordinary load sent its data to LDS; later there are instructions of their own, which mean
/// the same: global_load_dword with the bit is global_load_lds_dword.
bool decode_load_to_lds(const isa::Instruction& i, const isa::Target& target, Op& op) {
  std::string name(isa::name_of(i));
  const size_t load = name.find("_load_");
  if (load == std::string::npos) return false;
  const InstructionRow* row = find_row(name.insert(load + 5, "_lds"), target.processor);
  if (!row) return false;
  op.run = row->handler;
  return true;
}

/// The global data share takes the place of LDS; what synchronises through it has handlers of its own.
void use_global_share(Pool& pool, Op& op) {
  Stage& stage = pool.stages.emplace_back();
  stage.core = op.run;
  op.stage = &stage;
  op.run = &run_on_global_share;
}

} // namespace

bool decode_ds(const isa::Instruction& i, const InstructionRow&, DecodeContext context, Op& op) {
  const isa::fields::Ds ds = isa::fields::ds(i.words);
  op.dst = data_row(ds.vdst, ds.acc, context.target);
  op.src[0] = vgpr(ds.addr);
  op.src[1] = data_row(ds.data0, ds.acc, context.target);
  op.src[2] = data_row(ds.data1, ds.acc, context.target);
  op.imm = ds.offset();
  op.flags = ds.gds ? memory_flag::gds : 0;
  if (ds.gds && !i.traits.side_effects) use_global_share(context.pool, op);
  return true;
}

bool decode_flat(const isa::Instruction& i, const InstructionRow&, DecodeContext context, Op& op) {
  const isa::fields::Flat flat = isa::fields::flat(i.words);
  const bool has_sve = context.target.processor >= isa::Processor::gfx942;
  const bool scratch = i.encoding == isa::Encoding::scratch,
             has_saddr = i.encoding != isa::Encoding::flat && flat.has_saddr();
  op.dst = data_row(flat.vdst, flat.acc, context.target);
  op.src[0] = vgpr(flat.addr);
  op.src[1] = data_row(flat.data, flat.acc, context.target);
  op.imm = flat.offset;
  if (flat.cache.sc0) op.flags |= memory_flag::glc;
  if (has_saddr) {
    op.flags |= memory_flag::has_saddr;
    op.ssrc[0] = ScalarRef::sgpr(flat.saddr);
  }
  // gfx942 says with a bit whether scratch has a vector address; before, it had one exactly without a scalar one.
  if (!scratch || (has_sve ? flat.bit13 : !has_saddr)) op.flags |= memory_flag::has_vaddr;
  return has_sve || !flat.bit13 || decode_load_to_lds(i, context.target, op);
}

bool decode_buffer(const isa::Instruction& i, const InstructionRow&, DecodeContext context, Op& op) {
  auto fill = [&](const auto& fields) {
    op.dst = op.src[1] = data_row(fields.vdata, fields.acc, context.target);
    op.src[0] = vgpr(fields.vaddr);
    op.ssrc[0] = ScalarRef::sgpr(fields.srsrc);
    op.ssrc[1] = scalar_source(fields.soffset, 0, Format::s32, context.pool);
    op.imm = fields.offset;
    if (fields.cache.sc0) op.flags |= memory_flag::glc;
    if (fields.idxen) op.flags |= memory_flag::idxen;
    if (fields.offen) op.flags |= memory_flag::offen;
    return !fields.acc || context.target.unified_registers(); // else the bit is texture fail enable
  };
  if (i.encoding == isa::Encoding::mtbuf) {
    const isa::fields::Mtbuf mtbuf = isa::fields::mtbuf(i.words);
    op.sdst = uint16_t(mtbuf.dfmt | mtbuf.nfmt << 4);
    return fill(mtbuf);
  }
  const isa::fields::Mubuf mubuf = isa::fields::mubuf(i.words);
  if (mubuf.lds) op.flags |= memory_flag::lds;
  return fill(mubuf);
}

} // namespace asmevo::machine
