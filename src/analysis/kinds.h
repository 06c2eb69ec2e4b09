// What an instruction is as far as wait states care.
//
// The hazard tables speak of classes ("XDL", "transcendental", "store of more than 64 bits"), some decided by the
// mnemonic, some by single bits of the encoding. A Classifier answers per instruction and remembers mnemonics.
#pragma once

#include "isa/instruction.h"
#include "isa/target.h"

#include <vector>

namespace asmevo::analysis {

using Kinds = uint64_t;

namespace kind {
inline constexpr Kinds valu = 1ull << 0, // vector ALU, matrix instructions included
    legacy_valu = 1ull << 1,             // vector ALU without MFMA
    vmem = 1ull << 2,                    // buffer, global, scratch, flat
    ds = 1ull << 3,                      // LDS and GDS
    smem = 1ull << 4,                    //
    salu = 1ull << 5,                    //
    xdl = 1ull << 6,                     // MFMA on the f16/bf16/int8/fp8/xf32 pipe; every MFMA but f64 before gfx942
    sgemm = 1ull << 7,                   // f32 MFMA from gfx942 on
    dgemm = 1ull << 8,                   // f64 MFMA
    dgemm_4x4 = 1ull << 9,               // among them the 4x4x4 shape
    acc_read = 1ull << 10,               // v_accvgpr_read_b32
    acc_write = 1ull << 11,              // v_accvgpr_write_b32
    dot = 1ull << 12,                    //
    trans = 1ull << 13,                  // exp, log, rcp, rsq, sqrt, sin, cos
    dpp = 1ull << 14,                    //
    permlane_swap = 1ull << 15,          // v_permlane16_swap_b32, v_permlane32_swap_b32
    readlane = 1ull << 16,               // v_readlane_b32, v_readfirstlane_b32
    lane_select = 1ull << 17,            // v_readlane_b32, v_writelane_b32: an SGPR may name the lane
    writelane = 1ull << 18,              //
    div_fmas = 1ull << 19,               //
    fma_f64 = 1ull << 20,                // v_fma_f64, v_fmac_f64
    cmpx = 1ull << 21,                   // vector compare that writes EXEC
    getreg = 1ull << 22,                 //
    setreg = 1ull << 23,                 //
    reads_m0_late = 1ull << 24,          // GDS, s_sendmsg, LDS add-TID, s_movrel, loads to LDS
    part_write = 1ull << 25,             // result goes to a part of the register (SDWA dst_sel, op_sel[3], fp8, fp4)
    wide_store = 1ull << 26,             // store of more than 64 bits that the hardware reads late
    wide_store_soffset = 1ull << 27,     // the same, a buffer store with its soffset in an SGPR
    vskip = 1ull << 28,                  // s_setvskip, or s_setreg over MODE.vskip
    reads_execz = 1ull << 29,            // EXECZ or VCCZ as a source operand
    matrix = 1ull << 30;                 // MFMA and SMFMAC
} // namespace kind

struct Class {
  Kinds kinds = 0;
  uint8_t passes = 0; // matrix instructions; one pass is four clocks

  bool is(Kinds any) const { return (kinds & any) != 0; }
};

class Classifier {
public:
  explicit Classifier(isa::Processor processor) : processor_(processor) {}
  Class operator()(const isa::Instruction& instruction);

private:
  isa::Processor processor_;
  std::vector<Class> known_; // by mnemonic; passes 0xff where not asked yet
};

/// Passes of a matrix instruction, from its shape; `f8_operand` only matters for f8f6f4. 0 for anything else.
/// Source: AMD matrix instruction calculator (cycles / 4); LLVM's scheduling model for f64 and f8f6f4.
uint8_t matrix_passes(std::string_view mnemonic, isa::Processor processor, bool f8_operand);

/// Which hardware register s_getreg and s_setreg name.
inline unsigned hardware_register(const isa::Instruction& i) { return i.words[0] & 0x3f; }

} // namespace asmevo::analysis
