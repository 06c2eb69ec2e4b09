#include "machine/buffer_format.h"

#include <bit>
#include <cmath>

namespace asmevo::machine {

namespace {

// Widths of the components, lowest bits first, by dfmt. The formats' names have the highest bits first: 2_10_10_10 is
// three components of ten bits below one of two.
constexpr uint8_t widths[16][4] = {
    {},
    {8},
    {16},
    {8, 8},
    {32},
    {16, 16},
    {11, 11, 10},
    {10, 11, 11},
    {2, 10, 10, 10},
    {10, 10, 10, 2},
    {8, 8, 8, 8},
    {32, 32},
    {16, 16, 16, 16},
    {32, 32, 32},
    {32, 32, 32, 32},
    {},
};

uint32_t read_bits(const uint8_t* bytes, unsigned at, unsigned width) {
  uint64_t value = 0;
  for (unsigned k = 0; k < 5 && at / 8 + k < 16; ++k) value |= uint64_t{bytes[at / 8 + k]} << (8 * k);
  return uint32_t(value >> at % 8 & ((uint64_t{1} << width) - 1));
}

void write_bits(uint8_t* bytes, unsigned at, unsigned width, uint32_t value) {
  for (unsigned k = 0; k < width; ++k) {
    const uint8_t bit = uint8_t(1u << ((at + k) % 8));
    bytes[(at + k) / 8] = uint8_t((bytes[(at + k) / 8] & ~bit) | (value >> k & 1 ? bit : 0));
  }
}

int32_t sign_extend(uint32_t value, unsigned width) { return int32_t(value << (32 - width)) >> (32 - width); }

/// Unsigned small floats of 10 and 11 bits: exponent 5, no sign; 16-bit floats have one.
uint32_t widen_float(uint32_t value, unsigned width) {
  if (width == 32) return value;
  const uint32_t half = width == 16 ? value : value << (15 - width);
  return numeric::convert<numeric::Binary32, numeric::Binary16>(uint16_t(half), {});
}
uint32_t narrow_float(uint32_t value, unsigned width) {
  if (width == 32) return value;
  const uint32_t half = numeric::convert<numeric::Binary16, numeric::Binary32>(value, {});
  if (width == 16) return half;
  return half & 0x8000 ? 0 : half >> (15 - width);
}

uint32_t decode(uint32_t raw, unsigned width, NumberFormat number) {
  const double most = std::ldexp(1.0, int(width)) - 1, most_signed = std::ldexp(1.0, int(width) - 1) - 1;
  auto f32 = [](double v) { return std::bit_cast<uint32_t>(float(v)); };
  switch (number) {
  case NumberFormat::unorm:
    return f32(raw / most);
  case NumberFormat::snorm:
    return f32(std::max(-1.0, sign_extend(raw, width) / most_signed));
  case NumberFormat::uscaled:
    return f32(raw);
  case NumberFormat::sscaled:
    return f32(sign_extend(raw, width));
  case NumberFormat::uint:
    return raw;
  case NumberFormat::sint:
    return uint32_t(sign_extend(raw, width));
  case NumberFormat::floating:
    return widen_float(raw, width);
  }
  return 0;
}

uint32_t encode(uint32_t value, unsigned width, NumberFormat number) {
  const double most = std::ldexp(1.0, int(width)) - 1, most_signed = std::ldexp(1.0, int(width) - 1) - 1;
  const double real = std::bit_cast<float>(value);
  auto round = [](double v, double low, double high) {
    return std::isnan(v) ? 0 : int64_t(std::nearbyint(std::min(std::max(v, low), high)));
  };
  switch (number) {
  case NumberFormat::unorm:
    return uint32_t(round(real * most, 0, most));
  case NumberFormat::snorm:
    return uint32_t(round(real * most_signed, -most_signed, most_signed));
  case NumberFormat::uscaled:
    return uint32_t(round(real, 0, most));
  case NumberFormat::sscaled:
    return uint32_t(round(real, -most_signed - 1, most_signed));
  case NumberFormat::uint:
    return width == 32 ? value : std::min(value, uint32_t(most));
  case NumberFormat::sint:
    return width == 32 ? value
                       : uint32_t(std::min(std::max(int32_t(value), -int32_t(most_signed) - 1), int32_t(most_signed)));
  case NumberFormat::floating:
    return narrow_float(value, width);
  }
  return 0;
}

} // namespace

BufferFormat buffer_format(uint32_t dfmt, uint32_t nfmt) {
  BufferFormat format;
  unsigned total = 0;
  for (unsigned k = 0; k < 4 && widths[dfmt & 15][k]; ++k) {
    format.width[format.components++] = widths[dfmt & 15][k];
    total += widths[dfmt & 15][k];
  }
  format.bytes = uint8_t(total / 8);
  format.number = NumberFormat(nfmt);
  const bool small_float = format.width[0] == 8 || dfmt == 8 || dfmt == 9;
  format.valid =
      format.components && nfmt != 6 && nfmt < 8 && !(format.number == NumberFormat::floating && small_float);
  return format;
}

void decode_components(const BufferFormat& format, const uint8_t bytes[16], uint32_t value[4]) {
  const uint32_t one = format.is_integer() ? 1 : 0x3f800000;
  unsigned at = 0;
  for (unsigned k = 0; k < 4; ++k) {
    value[k] = k < format.components ? decode(read_bits(bytes, at, format.width[k]), format.width[k], format.number)
               : k == 3              ? one
                                     : 0;
    if (k < format.components) at += format.width[k];
  }
}

void encode_components(const BufferFormat& format, const uint32_t value[4], uint32_t given, uint8_t bytes[16]) {
  unsigned at = 0;
  for (unsigned k = 0; k < format.components; ++k) {
    write_bits(bytes, at, format.width[k], k < given ? encode(value[k], format.width[k], format.number) : 0);
    at += format.width[k];
  }
}

uint32_t narrow_half(uint32_t value, const BufferFormat& format) {
  if (format.is_integer()) return value & 0xffff;
  return numeric::convert<numeric::Binary16, numeric::Binary32>(value, {});
}

uint32_t widen_half(uint32_t half, const BufferFormat& format) {
  half &= 0xffff;
  if (format.number == NumberFormat::sint) return uint32_t(int32_t(int16_t(half)));
  if (format.number == NumberFormat::uint) return half;
  return numeric::convert<numeric::Binary32, numeric::Binary16>(uint16_t(half), {});
}

} // namespace asmevo::machine
