// Where the elements of MFMA and SMFMAC operands lie in registers and lanes.
//
// D (M x N) = A (M x K) times B (K x N) plus C, for each of `blocks` blocks. The formulas are those of AMD's matrix
// instruction calculator; the layouts that only gfx950 has come from AMD's published kernels.
//
// A and B: a lane holds `elements` consecutive k of one row of A (column of B); lanes walk rows first, then blocks,
// then groups of k. One exception: 8-bit operands of the f8f6f4 instructions have 32 elements a lane, but the lower 16
// belong to the first half of K and the upper 16 to the second.
//
// C and D: four rows of a column lie in four consecutive registers of a lane (one, for f64); lanes walk columns, then
// further groups of four rows, or blocks where a block is smaller than a register.
#pragma once

#include "isa/mfma.h"

namespace asmevo::machine {

/// A place in a wide operand: for A and B the element number within a lane (32 elements of 8 bits make 8 registers),
/// for C and D the register (pair of registers for f64).
struct MatrixPlace {
  unsigned element;
  unsigned lane;
};

struct MatrixLayout {
  unsigned m, n, k, blocks;
  bool f64;
  bool split; // the f8f6f4 exception

  constexpr unsigned elements() const { return m * k * blocks / 64; } // of A or B a lane; M equals N throughout

  /// A[i][k] of a block, or B[k][i].
  constexpr MatrixPlace input(unsigned i, unsigned at_k, unsigned block) const {
    if (split) {
      const unsigned half = k / 2;
      return {at_k / half * 16 + at_k % 16, at_k % half / 16 * m + i};
    }
    const unsigned e = elements();
    return {at_k % e, at_k / e * m * blocks + block * m + i};
  }

  /// C[i][j] or D[i][j] of a block.
  constexpr MatrixPlace output(unsigned i, unsigned j, unsigned block) const {
    const unsigned height = f64 ? 1 : 4, groups = 64 / n; // rows that share a lane; groups of them in a register
    const unsigned in_register = n * m / height < 64 ? 64 / (n * m / height) : 1; // blocks
    const unsigned element = block * (m * n / 64) + i / (height * groups) * height + i % height;
    const unsigned lane = block % in_register * n + i / height % groups * in_register * n + j;
    return {element, lane};
  }
};

inline MatrixLayout layout_of(const isa::MatrixOp& op, bool split = false) {
  return {op.m, op.n, op.k, op.blocks, op.c == isa::MatrixType::f64, split};
}

} // namespace asmevo::machine
