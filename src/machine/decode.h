// From isa::Instruction to Op.
#pragma once

#include "isa/fields.h"
#include "machine/image.h"

namespace asmevo::machine {

/// Everything decoding one instruction needs; the results of several go into one pool.
struct DecodeContext {
  const isa::Target& target;
  Pool& pool;
};

/// Decodes `instruction`. An instruction without a registry row, or in a form its row does not cover, gets the handler
/// that faults with "unsupported". Direct branch targets are set by the caller, who knows the indices.
Op decode_op(const isa::Instruction& instruction, DecodeContext context);

/// Highest rows the op's operands reach.
RowsUsed rows_used(const isa::Instruction& instruction);

// The parts, by shape. Each fills operands and returns false for a form that is not supported.
bool decode_valu(const isa::Instruction&, const InstructionRow&, DecodeContext, Op&);
bool decode_ds(const isa::Instruction&, const InstructionRow&, DecodeContext, Op&);
bool decode_flat(const isa::Instruction&, const InstructionRow&, DecodeContext, Op&);
bool decode_buffer(const isa::Instruction&, const InstructionRow&, DecodeContext, Op&);

/// An 8-bit scalar source code as a 32-bit or 64-bit scalar; a literal where the code says so. `format` says how inline
/// constants turn into bits.
ScalarRef scalar_source(uint32_t code, uint32_t literal, Format format, Pool& pool);

/// The bits of inline constant `code` (128-208, 240-248) or of the literal (255) for an operand of a format.
uint64_t constant_bits(uint32_t code, uint32_t literal, Format format);
constexpr bool is_constant_code(uint32_t code) {
  return (code >= 128 && code <= 208) || (code >= 240 && code <= 248) || code == 255;
}
/// vccz, execz, scc: computed when they are read.
constexpr bool needs_refresh(uint32_t code) {
  return code >= isa::fields::source_vccz && code <= isa::fields::source_scc;
}

// Handlers that are not an instruction's meaning (control.cpp).
void run_unsupported(Wave&, const Op&);
void run_outside_text(Wave&, const Op&);
void run_on_global_share(Wave&, const Op&); // a DS instruction with the GDS bit
void run_refreshing(Wave&, const Op&);      // scalar: refreshes vccz, execz and scc, then the core

} // namespace asmevo::machine
