// What an instruction costs, as a class: which pipe it goes to and which row of the device table prices it.
//
// Issue is by category: in a SIMD's turn at most one instruction of each category leaves, each from another wave. A
// category has classes because a multiply holds the vector ALU four times as long as an add.
#pragma once

#include "isa/instruction.h"
#include "isa/target.h"

namespace asmevo::timing {

/// `internal` instructions (waits, nops, barriers) are handled at the wave's instruction buffer and use no pipe.
enum class Category : uint8_t { valu, vmem, scalar, lds, branch, message, internal };

enum class OpClass : uint8_t {
  valu,
  valu_fma,
  valu_f64,
  valu_trans,
  valu_convert,
  valu_multiply,
  valu_wide,
  mfma,
  salu,
  smem,
  vmem,
  lds,
  flat,
  lds_permute,
  branch,
  waitcnt,
  nop,
  sleep,
  barrier,
  end,
  message,
  priority,
};

/// Matrix pipe occupancy.
struct MfmaShape {
  uint32_t passes = 0;       // of 4 clocks
  uint32_t valu_blocked = 0; // clocks from issue in which no other VALU instruction of the SIMD starts
};

Category category_of(OpClass);
OpClass classify(const isa::Instruction& instruction);

/// From the shape that the mnemonic names (M x N x K, blocks, type): AMD matrix instruction calculator, co-execution
/// columns; gfx950 rates from its peaks and its measured 17 clk of 16x16x32 f16. An unparsable name counts as the
/// slowest shape.
MfmaShape mfma_shape(const isa::Instruction& instruction, isa::Processor processor);

/// The source reads other lanes (DPP, SDWA select network, permlane): pays the cross-lane latency.
bool reads_across_lanes(const isa::Instruction& instruction);

} // namespace asmevo::timing
