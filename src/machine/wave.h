// Wave: the state of one wavefront of the simulated device, and how an instruction reaches its operands.
//
// A vector register is a row of 64 lanes, 256 aligned bytes, so that an instruction is a loop over contiguous memory
// that the compiler turns into vector code. Everything a vector instruction can read is such a row, in one of four
// spaces: the VGPR file, the AGPR file (on gfx90a and later a window into the VGPR file at accum_offset), the image's
// constants, which are splatted when the image is made, and a few staging rows of the wave's own where scalar registers
// are splatted and modified operands (SDWA, DPP, neg, abs, op_sel) are prepared. A handler therefore never asks what
// kind of operand it has.
//
// Scalar registers are indexed as the hardware's operand encoding numbers them, with EXEC, VCC and M0 in their places.
// Behind them lie slots for what the encoding can name but nothing can write.
//
// Headers of this directory are included by files that are compiled for several instruction sets. What they define is
// always inlined: an ordinary inline function would be merged by the linker into whichever copy comes first.
#pragma once

#include <cstdint>
#include <cstring>

#define AE_LANES [[gnu::always_inline]] inline

namespace asmevo::machine {

inline constexpr unsigned lanes = 64;
inline constexpr uint64_t all_lanes = ~uint64_t{0};

/// One vector register: 64 lanes. Rows are aligned to 64 bytes and never overlap partly.
struct alignas(64) Row {
  uint32_t lane[lanes];
};

enum class RowSpace : uint8_t { vgpr, agpr, constant, staging };

/// Names a row: the space in the low two bits, the row's number above. Operands wider than 32 bits are consecutive
/// rows, low dword first, in every space.
struct RowRef {
  uint32_t code = 0;
  static constexpr RowRef of(RowSpace space, uint32_t row) { return {uint32_t(space) | row << 2}; }
  constexpr RowSpace space() const { return RowSpace(code & 3); }
  constexpr uint32_t row() const { return code >> 2; }
  constexpr RowRef next(uint32_t rows) const { return {code + (rows << 2)}; }
};

/// Names a scalar: a register, or a constant of the image (bit 31).
struct ScalarRef {
  uint32_t code = 0;
  static constexpr ScalarRef sgpr(uint32_t number) { return {number}; }
  static constexpr ScalarRef constant(uint32_t index) { return {index | 0x80000000u}; }
  constexpr bool is_constant() const { return code >> 31; }
  constexpr uint32_t index() const { return code & 0x7fffffffu; }
};

/// Places in Wave::sgpr, beyond the register numbers of isa/instruction.h. The 64-bit ones take two.
namespace slot { // vccz, execz and scc are refreshed before an instruction that reads them
inline constexpr uint32_t flat_scratch = 102, xnack_mask = 104, vcc = 106, ttmp = 108, m0 = 124, exec = 126, vccz = 128,
                          execz = 130, scc = 132, shared_base = 134, shared_limit = 136, private_base = 138,
                          private_limit = 140, pops = 142, count = 144;
}

/// A region of Memory as a wave remembers it: enough to check an access and perform it.
struct RegionView {
  uint64_t base = 0, size = 0;
  uint8_t* data = nullptr;
  bool writable = false;
  bool logged = false; // accesses must be noted in the workgroup's log
};

inline constexpr unsigned staging_rows = 24, splat_rows = 16;

/// Why a wave stopped running. Bits; the scheduler takes over when any is set.
namespace event {
inline constexpr uint32_t ended = 1, barrier = 2, fault = 4, yield = 8, halted = 32,
                          modal = 16; // MODE has gpr_idx_en or vskip: instructions go one by one through step_modal()
}

struct Op;
struct Stage;
struct Workgroup;
struct Wave;

using Handler = void (*)(Wave&, const Op&);

struct Wave {
  // What every instruction touches comes first.
  const Op* next = nullptr;        // the instruction to execute; a handler sees it already advanced
  const Op* ops = nullptr;         // of the image; a branch sets next = ops + target
  uint32_t events = 0;             // event::*
  uint32_t scc = 0;                // 0 or 1
  uint32_t mode = 0;               // the MODE register; fields in namespace mode
  uint32_t modal_m0 = 0;           // M0 as s_set_gpr_idx_* left it: index 7:0, enables 15:12
  Row* spaces[4] = {};             // by RowSpace
  const uint32_t* scalars[2] = {}; // sgpr, constants
  alignas(64) uint32_t sgpr[slot::count] = {};

  uint64_t mask_of = all_lanes;           // the EXEC that lane_mask expands
  Row lane_mask;                          // ~0 in active lanes, 0 elsewhere; valid for mask_of
  Row staging[staging_rows + splat_rows]; // see stage.h for who uses which
  uint64_t splat_of[splat_rows]; // the word that the row behind staging_rows holds in all lanes; all ones: none

  // Where memory instructions last went: the region an instruction reached, by the low bits of its index.
  RegionView views[16];

  uint8_t* lds = nullptr;
  uint32_t lds_size = 0;                 // bytes allocated, rounded to the granule
  uint32_t vgpr_rows = 0, agpr_rows = 0; // rows that the wave owns in each file
  Workgroup* workgroup = nullptr;
  uint32_t id = 0;                     // in the workgroup
  uint64_t executed = 0;               // instructions, up to the start of the current turn
  uint64_t clock_reads = 0;            // keeps s_memtime moving within a turn
  uint64_t approximate = 0;            // instructions executed whose rounding is unpublished
  uint8_t* approximate_seen = nullptr; // one byte an op, set when it was executed

  AE_LANES uint64_t exec() const { return read64(slot::exec); }
  AE_LANES uint64_t vcc() const { return read64(slot::vcc); }
  AE_LANES uint32_t m0() const { return sgpr[slot::m0]; }
  AE_LANES void set_exec(uint64_t value) { write64(slot::exec, value); }
  AE_LANES void set_vcc(uint64_t value) { write64(slot::vcc, value); }

  AE_LANES uint64_t read64(uint32_t number) const {
    uint64_t value;
    __builtin_memcpy(&value, &sgpr[number], 8);
    return value;
  }
  AE_LANES void write64(uint32_t number, uint64_t value) { __builtin_memcpy(&sgpr[number], &value, 8); }
};

/// vccz, execz and scc have no storage of their own.
AE_LANES void refresh_conditions(Wave& w) {
  w.sgpr[slot::vccz] = w.vcc() == 0;
  w.sgpr[slot::execz] = w.exec() == 0;
  w.sgpr[slot::scc] = w.scc;
}

/// MODE fields (CDNA3 ISA manual, "Mode register").
namespace mode {
inline constexpr uint32_t round_f32_shift = 0, round_f16_f64_shift = 2, denorm_f32_shift = 4, denorm_f16_f64_shift = 6,
                          dx10_clamp = 1u << 8, ieee = 1u << 9, fp16_overflow = 1u << 23, gpr_idx_en = 1u << 27,
                          vskip = 1u << 28;
enum Round : uint32_t { nearest_even, plus_infinity, minus_infinity, toward_zero };
// Denormal fields: bit 0 keeps denormal inputs, bit 1 keeps denormal results; 0 flushes both.
AE_LANES Round round_f32(uint32_t mode) { return Round(mode & 3); }
AE_LANES Round round_f16_f64(uint32_t mode) { return Round(mode >> 2 & 3); }
AE_LANES uint32_t denorm_f32(uint32_t mode) { return mode >> 4 & 3; }
AE_LANES uint32_t denorm_f16_f64(uint32_t mode) { return mode >> 6 & 3; }
} // namespace mode

AE_LANES Row* row(Wave& w, RowRef ref) { return w.spaces[ref.code & 3] + (ref.code >> 2); }

AE_LANES uint32_t scalar32(const Wave& w, ScalarRef ref) { return w.scalars[ref.code >> 31][ref.index()]; }
AE_LANES uint64_t scalar64(const Wave& w, ScalarRef ref) {
  uint64_t value;
  __builtin_memcpy(&value, w.scalars[ref.code >> 31] + ref.index(), 8);
  return value;
}

} // namespace asmevo::machine
