// What someone who debugs a kernel wants to see of a run: a trace, registers and LDS at some point, how often each
// instruction was executed. Requests and what comes back; none of it changes what a kernel computes.
#pragma once

#include "isa/instruction.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::machine {

/// "v3", "a[0:3]", "s4", "s[4:7]", "vcc", "exec", "m0", "scc" as registers; nothing for other text.
std::optional<isa::RegisterRange> parse_registers(std::string_view text);

/// Which instructions a trace shows, and what of them. Nothing set means everything.
struct TraceFilter {
  uint64_t first = 0, last = ~uint64_t{0};   // addresses of the object: [first, last)
  std::optional<uint32_t> workgroup, wave;   // wave: its number in the workgroup
  std::optional<unsigned> lane;              // vector values of this lane only
  std::optional<isa::RegisterRange> written; // only instructions that write one of these registers
  std::vector<uint64_t> stored;              // only stores and atomics to one of these bytes of global memory
};

/// A register that an instruction has written, 32 bits: one value of a scalar register, 64 of a vector register.
struct WrittenRegister {
  std::string name; // "v3", "s4", "vcc_lo", "scc"
  bool vector = false;
  std::vector<uint32_t> values;
};

/// Memory that an instruction has accessed, in lane order.
struct TracedAccess {
  std::string space; // "global", "lds", "gds", "scratch", "scalar"
  bool write = false;
  uint32_t bytes = 0; // a lane
  struct Lane {
    unsigned lane = 0;
    uint64_t address = 0;
    std::vector<uint8_t> content; // after the instruction; empty where nothing is mapped
  };
  std::vector<Lane> lanes;
};

/// One executed instruction.
struct TraceLine {
  uint32_t workgroup = 0, wave = 0;
  uint64_t number = 0; // of the wave's instructions, from 0
  uint32_t instruction = 0;
  uint64_t exec = 0; // when it was issued
  std::vector<WrittenRegister> registers;
  std::vector<TracedAccess> accesses;
};

/// Registers and LDS when a wave is about to execute an instruction.
struct DumpRequest {
  uint64_t address = 0; // of the object
  uint64_t arrival = 1; // of the wave at that address
  uint32_t workgroup = 0;
  std::optional<uint32_t> wave; // all where not set
};

struct Dump {
  uint32_t workgroup = 0, wave = 0, instruction = 0;
  uint64_t arrival = 0, exec = 0, vcc = 0;
  uint32_t scc = 0, m0 = 0, mode = 0;
  std::vector<uint32_t> scalars;                               // s0 up
  std::vector<std::array<uint32_t, 64>> vectors, accumulators; // v0 up, a0 up
  std::vector<uint8_t> lds;
};

struct Debugging {
  std::optional<TraceFilter> trace;
  std::vector<DumpRequest> dumps;
  bool coverage = false;
  std::function<void(const TraceLine&)> on_line;
  std::function<void(const Dump&)> on_dump;
};

} // namespace asmevo::machine
