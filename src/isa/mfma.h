// The matrix instructions: shapes, element types and how long the matrix pipe is busy.
//
// D (M x N) = A (M x K) times B (K x N) plus C, `blocks` times side by side. A wave holds each matrix spread over its
// 64 lanes. Sparse instructions (SMFMAC) keep two of four elements of every row of A, so A has half the registers, and
// accumulate into D. A pass is four cycles.
//
// Sources: AMD's matrix instruction calculator for CDNA1 to CDNA3; LLVM 22's gfx950 scheduling model for what CDNA4
// adds, which agrees with the published peak rates.
#pragma once

#include "isa/instruction.h"
#include "isa/target.h"

#include <span>

namespace asmevo::isa {

/// Element types. `f8f6f4` stands for the five types that cbsz (A) and blgp (B) choose from in that order: fp8, bf8,
/// fp6, bf6, fp4.
enum class MatrixType : uint8_t { f64, f32, xf32, f16, bf16, i8, fp8, bf8, fp6, bf6, fp4, f8f6f4, i32 };

/// Bits of one element; f8f6f4 counts as 8.
unsigned bits_of(MatrixType);

struct MatrixOp {
  std::string_view name; // mnemonic
  uint8_t m, n, k, blocks;
  MatrixType a, b, c; // D has the type of C
  bool sparse;
  struct Passes {
    uint8_t gfx908, gfx90a, gfx942, gfx950; // 0 where the processor lacks the instruction
  } passes_by_processor;

  /// For f8f6f4 instructions with an 8-bit operand; see matrix_passes() for an instruction's own.
  unsigned passes(Processor) const;
  unsigned a_registers() const, b_registers() const, c_registers() const; // 32-bit registers a lane
};

std::span<const MatrixOp> matrix_ops();
/// Null where the mnemonic is no matrix instruction. Scaled instructions answer with the operation they scale.
const MatrixOp* matrix_op(std::string_view mnemonic);

/// The element types of an f8f6f4 instruction's A and B, from cbsz and blgp; of others, what the table says.
struct MatrixTypes {
  MatrixType a, b;
};
MatrixTypes matrix_types(const Instruction&, const MatrixOp&);

/// Passes of one instruction: f8f6f4 takes twice as long when A or B has 8-bit elements. 0 for other instructions.
unsigned matrix_passes(const Instruction&, Processor);

/// Cycles of a matrix instruction in which the VALU of the same SIMD may run other instructions.
unsigned coexecution_cycles(const MatrixOp&, unsigned passes, Processor);

} // namespace asmevo::isa
