// A wave with two buffers in device memory.
#pragma once

#include "wave_fixture.h"

namespace asmevo::machine {

inline constexpr uint64_t in_base = 0x7f0000001000, out_base = 0x7f0000100000;

/// A program with two buffers: `in` holds dwords 0x1000, 0x1001, ..., `out` is empty; their addresses are in s[4:5],
/// s[6:7].
struct Buffers : Program {
  explicit Buffers(const std::string& text, uint64_t bytes = 4096, isa::Processor p = isa::Processor::gfx942)
      : Program(text, p) {
    in = *memory.map(in_base, bytes, Access::read_only, "in");
    out = *memory.map(out_base, bytes, Access::read_write, "out");
    for (uint64_t k = 0; k + 4 <= bytes; k += 4) {
      const uint32_t value = uint32_t(0x1000 + k / 4);
      std::memcpy(in.data() + k, &value, 4);
    }
  }
  Buffers& begin() {
    start();
    set64(4, in_base);
    set64(6, out_base);
    // Buffer resources over `in` and `out` in s[8:11] and s[12:15].
    set64(8, in_base), set64(12, out_base);
    s(10) = uint32_t(in.size()), s(14) = uint32_t(out.size());
    s(11) = s(15) = 0x20000;
    return *this;
  }
  uint32_t dword(uint64_t at) {
    uint32_t value;
    std::memcpy(&value, out.data() + at, 4);
    return value;
  }
  std::span<uint8_t> in, out;
};

} // namespace asmevo::machine
