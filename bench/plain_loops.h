// Plain C++ loops that do the lane arithmetic of the machine's benchmark loops, compiled for one instruction set level
// each: the roofline of running lanes as host vector code. They go through memory between "instructions", as registers
// of a wave do.
#pragma once

#include <cstdint>
#include <string_view>

namespace plain {

struct Rows { // eight registers of 64 lanes
  alignas(64) uint32_t row[8][64];
};
struct Singles {
  alignas(64) float row[8][64];
};
struct Block {
  alignas(64) uint32_t dword[256];
};

/// One pass of each: `instructions` says how many wave-instructions it stands for.
struct Loops {
  std::string_view level;
  void (*integer)(Rows&);             // 4: add, xor, shift, and, each needing the one before
  void (*single)(Singles&);           // 4: fma, multiply, add, fma, likewise
  void (*copy)(Rows&, Block&);        // 2: 4 bytes a lane to a row, and from another one back
  void (*transpose)(Rows&, Block&);   // 2: 16 bytes a lane to four rows, and from four others back
  float (*multiply_adds)(float seed); // 64 vectors of 64 lanes: independent sums in registers, the peak rate
};
inline constexpr double multiply_adds_flops = 64.0 * 64 * 2;

/// For the level that the machine runs at ("x86-64-v4").
const Loops& loops(std::string_view level);

} // namespace plain
