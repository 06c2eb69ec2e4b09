// The registry: what each mnemonic means, for which targets, and how exactly.
//
// A semantics file is a table of rows. A row names the mnemonic (as isa::mnemonic_name does: without suffix), the shape
// of its operands, and its handler. The decoder (decode.cpp) needs nothing else to build an Op; coverage reports read
// the same rows. Files in semantics/ are compiled once for each instruction set of the host (namespace ASMEVO_ISA is
// v2, v3 or v4) and one set of tables is chosen when the process starts; semantics/tables.h lists them.
#pragma once

#include "isa/target.h"
#include "machine/machine.h"
#include "machine/op.h"

#include <span>
#include <string_view>

namespace asmevo::machine {

/// What an operand of a vector ALU instruction is: how many rows it takes, how inline constants turn into bits, and how
/// neg, abs, op_sel, clamp and omod apply to it.
enum class Format : uint8_t {
  none,
  b16,
  f16,
  bf16, // in the low half of a row. Results: see Signature::keeps_high
  b32,
  f32,
  b64,
  f64, // two rows
  p16,
  pf16, // two halves in one row; sources arrive with op_sel, op_sel_hi, neg_lo and neg_hi already applied
  p32,
  pf32, // two rows, likewise (v_pk_fma_f32, v_pk_mov_b32)
  k16,
  k32,  // the literal of v_madak/v_madmk/v_fmaak/v_fmamk
  mask, // one bit a lane: SGPR pair, VCC in 32-bit encodings. Source: ssrc[k]. Destination: sdst
  s32,
  s64, // scalar only (v_readlane's lane select, v_writelane's value). Source: ssrc[k]. Destination: sdst
};

/// A wide operand takes `rows` rows (MFMA: 1, 2, 4, 8, 16, 32); 0 means what the format says.
struct Operand {
  Format format = Format::none;
  uint8_t rows = 0;
  constexpr Operand(Format f = Format::none, uint8_t r = 0) : format(f), rows(r) {}
};

constexpr uint32_t rows_of(Operand o) {
  if (o.rows) return o.rows;
  switch (o.format) {
  case Format::b64:
  case Format::f64:
  case Format::p32:
  case Format::pf32:
    return 2;
  case Format::none:
  case Format::mask:
  case Format::s32:
  case Format::s64:
    return 0;
  default:
    return 1;
  }
}

/// Operands of a vector ALU instruction in assembly order.
/// A source of format `mask` that a 32-bit (VOP2) encoding has no field for is VCC; the carry-out `sdst` likewise.
/// An accumulating instruction (v_fmac) does not list its destination as a source: the core reads row(w, op.dst).
struct Signature {
  Operand dst;
  Operand src[3];
  bool carry_out = false; // writes a lane mask to sdst besides dst
  bool raw = false;       // neg/abs/op_sel/omod/clamp are left to the core (v_fma_mix, v_cvt_pk_fp8, MFMA, ...)
};

enum class Shape : uint8_t {
  valu, // VOP1, VOP2, VOPC, VOP3, VOP3P, MFMA: operands by Signature
  salu, // SOP1, SOP2, SOPK, SOPC, SOPP: 32-bit sources unless Row::wide says otherwise
  smem,
  ds,
  flat,
  buffer
};

using TargetMask = uint8_t; // bit per isa::Processor
constexpr TargetMask bit(isa::Processor p) { return TargetMask(1u << unsigned(p)); }
inline constexpr TargetMask on_all = 0x1f, on_gfx908 = bit(isa::Processor::gfx908),
                            on_gfx90a = bit(isa::Processor::gfx90a), on_gfx942 = bit(isa::Processor::gfx942),
                            on_gfx950 = bit(isa::Processor::gfx950), from_gfx942 = on_gfx942 | on_gfx950,
                            from_gfx90a = on_gfx90a | from_gfx942, from_gfx908 = on_gfx908 | from_gfx90a,
                            before_gfx90a = on_all & TargetMask(~from_gfx90a),
                            before_gfx942 = on_all & TargetMask(~from_gfx942);

struct InstructionRow {
  std::string_view mnemonic;
  Shape shape = Shape::valu;
  Signature signature; // valu
  Handler handler = nullptr;
  Support support = Support::exact;
  TargetMask targets = on_all;
  uint16_t width = 0;       // copied to Op::width
  uint8_t wide_sources = 0; // salu: bit k set: source k has 64 bits
  Handler signs = nullptr;  // valu: a second handler that applies neg and abs itself
};

/// A vector ALU row: `valu("v_add_f32", {f32, {f32, f32}}, &add_f32)`.
constexpr InstructionRow valu(std::string_view mnemonic, Signature signature, Handler handler,
                              Support support = Support::exact, TargetMask targets = on_all, uint16_t width = 0) {
  return {mnemonic, Shape::valu, signature, handler, support, targets, width};
}

/// The row for an instruction on a processor, or null.
const InstructionRow* find_row(std::string_view mnemonic, isa::Processor processor);
/// Every row of the chosen instruction set.
std::span<const std::span<const InstructionRow>> all_rows();
/// "x86-64-v2", "-v3" or "-v4": what was chosen at start-up (ASMEVO_ISA_LEVEL=v2|v3 lowers it, for tests).
std::string_view chosen_isa();

} // namespace asmevo::machine
