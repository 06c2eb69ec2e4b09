// Data formats of typed buffer accesses: how the components of an element lie in its bytes, and what they turn into.
// Numbers of dfmt and nfmt: LLVM AMDGPU SIDefines.h, MTBUFFormat (GFX9); conversions: CDNA3 ISA manual.
#pragma once

#include "machine/numeric/convert.h"
#include "machine/wave.h"

namespace asmevo::machine {

enum class NumberFormat : uint8_t { unorm = 0, snorm = 1, uscaled = 2, sscaled = 3, uint = 4, sint = 5, floating = 7 };

struct BufferFormat {
  bool valid = false;
  NumberFormat number = NumberFormat::uint;
  uint8_t components = 0;
  uint8_t bytes = 0;
  uint8_t width[4] = {};
  bool is_integer() const { return number == NumberFormat::uint || number == NumberFormat::sint; }
};

BufferFormat buffer_format(uint32_t dfmt, uint32_t nfmt);
/// Components as registers get them: f32 for normalised, scaled and float formats, integers else. Absent ones are 0,
/// and the fourth 1.
void decode_components(const BufferFormat& format, const uint8_t bytes[16], uint32_t value[4]);
/// The other way; components beyond `given` are 0.
void encode_components(const BufferFormat& format, const uint32_t value[4], uint32_t given, uint8_t bytes[16]);
/// D16 registers hold f16 where others hold f32, and 16-bit integers where others hold 32-bit ones.
uint32_t narrow_half(uint32_t value, const BufferFormat& format);
uint32_t widen_half(uint32_t half, const BufferFormat& format);

} // namespace asmevo::machine
