// Op: an instruction decoded for execution.
//
// Decoding happens once an image. It finds the handler by mnemonic (registry.h), turns operand fields into row and
// scalar references, and decides whether the instruction needs a stage: preparation of operands or treatment of the
// result that is the same for all instructions (splatting a scalar register, neg/abs, op_sel, SDWA selects, DPP, omod
// and float clamp). Where one is needed, `run` is a stage runner that ends by calling the instruction's own handler;
// else `run` is that handler. So a handler (the "core") sees plain rows only:
//
//   void add_u32(Wave& w, const Op& op) {
//     const Row& a = *row(w, op.src[0]); const Row& b = *row(w, op.src[1]); Row& d = *row(w, op.dst);
//     ... for each lane of EXEC: d.lane[i] = a.lane[i] + b.lane[i];
//   }
//
// What a core still has to look at: integer clamp (saturation), and every modifier if its registry row says `raw`.
#pragma once

#include "machine/wave.h"

namespace asmevo::machine {

/// Modifiers of vector ALU instructions, packed into Op::modifiers. abs is neg_hi for VOP3P.
struct Modifiers {
  uint32_t bits = 0;
  AE_LANES uint32_t neg() const { return bits & 7; }             // one bit a source
  AE_LANES uint32_t abs() const { return bits >> 3 & 7; }        // VOP3
  AE_LANES uint32_t neg_hi() const { return bits >> 3 & 7; }     // VOP3P
  AE_LANES uint32_t op_sel() const { return bits >> 6 & 15; }    // bit 3: destination
  AE_LANES uint32_t op_sel_hi() const { return bits >> 10 & 7; } // VOP3P
  AE_LANES uint32_t omod() const { return bits >> 13 & 3; }      // 0 none, 1 *2, 2 *4, 3 /2
  AE_LANES bool clamp() const { return bits >> 15 & 1; }
  AE_LANES uint32_t cbsz() const { return bits >> 16 & 7; } // MFMA
  AE_LANES uint32_t abid() const { return bits >> 19 & 15; }
  AE_LANES uint32_t blgp() const { return bits >> 23 & 7; }

  static constexpr Modifiers pack(uint32_t neg, uint32_t abs, uint32_t op_sel, uint32_t op_sel_hi, uint32_t omod,
                                  uint32_t clamp) {
    return {neg | abs << 3 | op_sel << 6 | op_sel_hi << 10 | omod << 13 | clamp << 15};
  }
};

/// Which fields mean what depends on the shape (registry.h):
///   vector ALU   dst, src[0..2] rows; sdst the SGPR of a mask or scalar result; ssrc[k] where source k is a scalar or
///   a
///                mask (carry-in, condition); imm the literal; modifiers
///   scalar ALU   sdst; ssrc[0..1]; imm: simm16 sign-extended, a literal, or for branches the target's index (-1: none)
///   memory       dst: loaded or returned data; src[0] address, src[1] data, src[2] second data (DS); ssrc[0] base
///                (saddr, sbase, or resource), ssrc[1] soffset; imm offset; flags memory_flag::*
struct Op {
  Handler run = nullptr;
  const Stage* stage = nullptr; // null: run is the core itself
  RowRef dst;
  RowRef src[3];
  ScalarRef ssrc[3];
  uint16_t sdst = 0;
  uint16_t width = 0; // memory: dwords or bytes as the handler defines it; else free for the handler's table row
  int32_t imm = 0;
  union {
    Modifiers modifiers{};
    uint32_t flags;
  };
  uint32_t index = 0; // of the instruction in the image
};
static_assert(sizeof(Op) <= 64);

namespace memory_flag {
inline constexpr uint32_t glc = 1,  // atomics: return the old value (sc0 on gfx940 and later)
    has_saddr = 1 << 1,             // GLOBAL, SCRATCH: ssrc[0] is there
    has_vaddr = 1 << 2,             // a vector address is there
    offen = 1 << 3, idxen = 1 << 4, // MUBUF, MTBUF
    lds = 1 << 5,                   // data goes to LDS
    has_soffset = 1 << 6,           // SMEM: soffset register
    gds = 1 << 7;
}

} // namespace asmevo::machine
