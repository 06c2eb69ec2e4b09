// Wait counters: which of them an instruction raises, and the immediate of s_waitcnt.
//
// A load returns long after it issues and nothing stops the wave from reading the register too early: each wave counts
// what is outstanding, and s_waitcnt stalls until at most so many are. vmcnt counts vector memory and comes down in
// order, so a wait for n frees all but the last n. lgkmcnt counts LDS (in order), scalar memory (in any order) and
// messages; once a scalar access is among them only a wait for 0 says anything. FLAT may turn out to be either LDS or
// global memory, so it raises both. expcnt on CDNA counts only GWS and exports.
//
// Source: CDNA3 ISA manual 4.4 "Data dependency resolution"; the same rules hold from gfx906 to gfx950.
#pragma once

#include "isa/instruction.h"

namespace asmevo::isa {

/// Counts to wait for; a field at its maximum waits for nothing.
struct WaitCounts {
  uint8_t vmcnt = 63, expcnt = 7, lgkmcnt = 15;

  bool none() const { return vmcnt == 63 && expcnt == 7 && lgkmcnt == 15; }
  bool operator==(const WaitCounts&) const = default;
};

/// The immediate of s_waitcnt on GFX9: vmcnt [3:0] and [15:14], expcnt [6:4], lgkmcnt [11:8].
constexpr uint16_t encode_waitcnt(const WaitCounts& wait) {
  return static_cast<uint16_t>((wait.vmcnt & 15) | (wait.expcnt & 7) << 4 | (wait.lgkmcnt & 15) << 8 |
                               (wait.vmcnt >> 4 & 3) << 14);
}
constexpr WaitCounts decode_waitcnt(uint16_t immediate) {
  return {static_cast<uint8_t>((immediate & 15) | (immediate >> 14 & 3) << 4), static_cast<uint8_t>(immediate >> 4 & 7),
          static_cast<uint8_t>(immediate >> 8 & 15)};
}

/// What one instruction adds to the counters when it issues.
struct CounterEvents {
  uint8_t vmcnt = 0;              // 0 or 1
  uint8_t lgkmcnt = 0;            // 0, 1 or 2
  uint8_t expcnt = 0;             // 0 or 1
  bool lgkm_out_of_order = false; // scalar memory and FLAT: only lgkmcnt(0) says that it is done
};

CounterEvents counter_events(const Instruction&);

/// What an s_waitcnt (or s_waitcnt of one counter, whose SGPR is null) waits for; nothing for other instructions.
WaitCounts waits_of(const Instruction&);

} // namespace asmevo::isa
