// What the timing model needs of an execution: for chosen workgroups, the sequence of instructions of each wave and
// where its memory instructions went.
//
// Lane addresses repeat (every iteration of a GEMM's main loop has the same shape of accesses), so they are stored as
// interned patterns: offsets of the lanes from a base, hashed once. A trace event is 16 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace asmevo::machine {

inline constexpr uint32_t no_pattern = 0xffffffff;
inline constexpr uint32_t inactive_lane = 0xffffffff;

enum class Space : uint8_t { global, lds, scalar, scratch };

/// Lane i accesses [base + offset[i], + bytes); inactive_lane where EXEC or the range check left it out.
/// Scalar accesses have lane 0 only, offset 0. LDS with two addresses (read2/write2) make two patterns: `next`.
/// `base` of a global access is rounded down to 256 bytes; of an LDS access it is 0.
struct AccessPattern {
  Space space = Space::global;
  bool write = false;
  uint32_t bytes = 4; // a lane
  uint32_t next = no_pattern;
  std::array<uint32_t, 64> offset{};
};

struct TraceEvent {
  uint32_t instruction = 0; // index into Image::instructions
  uint32_t pattern = no_pattern;
  uint64_t base = 0;
};

struct WaveTrace {
  uint32_t workgroup = 0; // linear id
  uint32_t wave = 0;      // in the workgroup
  std::vector<TraceEvent> events;
  std::vector<uint8_t> active_lanes; // parallel to events: popcount of EXEC at issue
};

struct Trace {
  std::vector<AccessPattern> patterns;
  std::vector<WaveTrace> waves;
};

} // namespace asmevo::machine
