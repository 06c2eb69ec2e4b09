// Instruction: one decoded machine instruction, decoded once and shared by every later stage.
//
// Two readers want different things. Analyses want to know which registers are read and written, whether memory is
// touched, where a branch goes. The simulated machine wants the exact encoding fields, because text leaves some out
// (two different instructions can print alike). So an Instruction carries both: the operand lists that LLVM's tables
// give, and the raw words with the encoding they are in (fields.h picks them apart).
//
// Two things no single instruction knows: between s_set_gpr_idx_on and _off M0 is added to VGPR numbers of any vector
// instruction, and EXEC decides which lanes of a destination are written. The lists name registers as encoded, and a
// destination is listed as a use only where the instruction itself keeps a part of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::isa {

/// Register files. Scalar registers are numbered as the hardware's 7-bit operand encoding numbers them: 0-101 are
/// s0-s101, 102 flat_scratch_lo, 104 xnack_mask_lo, 106 vcc_lo, 108-123 ttmp0-15, 124 m0, 126 exec_lo. VGPRs and AGPRs
/// count from 0 in their own files. `scc` and `mode` have one register each.
enum class File : uint8_t { sgpr, vgpr, agpr, scc, mode };

inline constexpr uint16_t flat_scratch_lo = 102, xnack_mask_lo = 104, vcc_lo = 106, vcc_hi = 107, ttmp0 = 108, m0 = 124,
                          exec_lo = 126, exec_hi = 127;

/// `count` consecutive 32-bit registers.
struct RegisterRange {
  File file = File::sgpr;
  uint16_t first = 0;
  uint16_t count = 1;

  bool operator==(const RegisterRange&) const = default;
  bool overlaps(const RegisterRange& other) const {
    return file == other.file && first < other.first + other.count && other.first < first + count;
  }
};

/// GFX9 encodings, by the bits that select them (CDNA3 ISA manual, chapter "Microcode Formats").
enum class Encoding : uint8_t {
  sop1,
  sop2,
  sopk,
  sopc,
  sopp,
  smem,
  vop1,
  vop2,
  vopc,
  vop3a,
  vop3b,
  vop3p,
  vop3p_mai, // any of vop1/vop2/vopc may carry an SDWA or DPP second word
  ds,
  flat,
  global,
  scratch,
  mubuf,
  mtbuf,
  vop3px2, // gfx950: v_mfma_ld_scale + v_mfma in 16 bytes
  mimg,
  exp,
  vintrp,  // gfx906 only; recognised so that they are kept, executed nowhere
  unknown, // raw words nothing could decode
};

enum class Suffix : uint8_t { none, sdwa, dpp }; // what a 32-bit VALU encoding carries in its second word

/// What an instruction is, as far as control flow, memory and waits care. One bit each.
struct Traits {
  bool branch : 1 = false;      // s_branch, s_cbranch_*, s_setpc, s_swappc, s_call
  bool conditional : 1 = false; // may fall through
  bool indirect : 1 = false;    // target in a register
  bool terminator : 1 = false;  // s_endpgm, s_setpc, s_branch: never falls through
  bool barrier : 1 = false;
  bool waitcnt : 1 = false;
  bool salu : 1 = false;
  bool valu : 1 = false; // MFMA and accvgpr moves included
  bool mfma : 1 = false; // MFMA and SMFMAC
  bool smem : 1 = false;
  bool vmem : 1 = false; // mubuf, mtbuf, global, scratch, flat
  bool lds : 1 = false;  // ds_* and lds-direct loads
  bool flat : 1 = false; // flat_*: may be either
  bool may_load : 1 = false;
  bool may_store : 1 = false;
  bool atomic : 1 = false;
  bool returns : 1 = false;      // an atomic that writes its old value to a register
  bool side_effects : 1 = false; // messages, s_setreg, traps, sleeps, cache control...: never removed or moved
  bool relative : 1 = false;     // M0 is added to a register number: the operand lists name the base only
};

struct Instruction {
  uint64_t address = 0; // virtual address in the object it was decoded from
  uint8_t size = 0;     // bytes: 4, 8, 12 or 16
  Encoding encoding = Encoding::unknown;
  Suffix suffix = Suffix::none;
  bool has_literal = false; // the word after the encoding is a 32-bit literal
  Traits traits;
  uint16_t mnemonic = 0;           // index into mnemonics(), without _e32/_e64/_sdwa/_dpp
  uint32_t llvm_opcode = 0;        // MCInst opcode, for assemble/print of the same instruction
  std::array<uint32_t, 4> words{}; // the raw encoding
  std::vector<RegisterRange> defs; // explicit and implicit, in operand order; what is written at least partly
  std::vector<RegisterRange> uses; // explicit and implicit (EXEC, SCC, VCC, M0, MODE, tied destinations)
  uint8_t explicit_defs = 0;       // the first so many of `defs` come from the operand list
  uint8_t explicit_uses = 0;       // likewise `uses`
  int64_t branch_target = -1;      // virtual address of a direct branch's target
};

/// Mnemonics are interned for the life of the process; id 0 is "<unknown>". Thread safe.
std::string_view mnemonic_name(uint16_t id);
uint16_t mnemonic_id(std::string_view name);
inline std::string_view name_of(const Instruction& i) { return mnemonic_name(i.mnemonic); }

} // namespace asmevo::isa
