// Where a memory instruction goes, worked out before it executes.
#pragma once

#include "isa/instruction.h"
#include "machine/op.h"
#include "machine/trace.h"

#include <array>

namespace asmevo::machine {

/// How addresses come about.
enum class Addressing : uint8_t {
  none, // no memory
  lds,
  lds_two,     // read2, write2: two places a lane
  lds_add_tid, // M0 and the lane
  lds_counter, // M0: one place for all lanes
  global,
  flat,
  scratch,
  buffer,
  typed_buffer,  // the instruction names the format
  format_buffer, // the resource does
  scalar,
  scalar_buffer,
  scalar_scratch
};

/// What is known of a memory instruction without executing it.
struct AccessShape {
  Addressing addressing = Addressing::none;
  uint32_t bytes = 0; // a lane; of typed buffers the format says
  uint32_t offset[2] = {};
  bool reads = false, writes = false, atomic = false;
  bool coherent = false; // scope bits are set: meant to meet other waves
  bool to_lds = false;   // the data go to LDS
  bool gds = false;      // what is addressed as LDS is the global data share
  uint32_t lds_stride = 0;
  bool quick = false; // a plain load or store of LDS or global memory
};

AccessShape access_shape(const isa::Instruction& instruction);

/// The lanes of one instruction in one kind of memory.
struct Places {
  Space space = Space::global;
  uint32_t bytes = 0;                // a lane
  uint64_t mask = 0;                 // lanes that access; what is out of range of a resource is left out
  uint64_t outside = 0;              // lanes beyond the end of LDS, or of the wave's part of the global data share
  bool consecutive = false;          // all lanes, side by side in order
  uint64_t low = 0, high = 0;        // [low, high) holds all of it
  uint64_t low_bits = 0;             // low bits of the addresses, as far as multiples of `bytes` do not make them
  alignas(64) uint64_t place[lanes]; // not filled where they are consecutive

  /// Global: address; lds: offset, there or in the global data share; scratch: offset in the lane's memory.
  uint64_t at(unsigned lane) const { return consecutive ? low + uint64_t{bytes} * lane : place[lane]; }
};

inline constexpr unsigned max_places = 4;

/// The bit of each lane in a mask.
inline constexpr auto lane_bits = [] {
  std::array<uint64_t, lanes> bits{};
  for (unsigned i = 0; i < lanes; ++i) bits[i] = uint64_t{1} << i;
  return bits;
}();

/// Fills `out` and says how many entries count. `w` is about to execute `op`.
using PlaceRunner = unsigned (*)(Wave& w, const Op& op, const AccessShape& shape, Places out[max_places]);
PlaceRunner place_runner(); // of the chosen instruction set

} // namespace asmevo::machine
