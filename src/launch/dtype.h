// Element types of buffers and scalar arguments.
//
// A GPU has more number formats than C++. Each is a row here: width, kind, and for floating point how many exponent and
// mantissa bits and which encodings are special. The 8-bit formats come twice, because AMD changed them: `fp8` and
// `bf8` are the FNUZ formats of gfx942 (bias one larger, no infinities, no negative zero: 0x80 is the only NaN),
// `fp8_ocp` and `bf8_ocp` the OCP formats of gfx950 (e4m3 without infinities, e5m2 with).
//
// Elements of four bits (`fp4`: OCP e2m1 without infinities and NaN, `i4`, `u4`) lie two in a byte, the first in the
// low half; so elements are found by index and not by stepping through bytes. A last half byte without an element is no
// part of the buffer's content.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace asmevo::launch {

enum class DType : uint8_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f16,
  bf16,
  f32,
  f64,
  fp8,
  bf8,
  fp8_ocp,
  bf8_ocp,
  fp4,
  i4,
  u4,
  count_
};

/// What the largest exponent field means: numbers, infinities and NaNs (ieee); a NaN only where the mantissa is all
/// ones (finite, OCP e4m3); nothing special but 0x80 as NaN (fnuz).
enum class Specials : uint8_t { none, ieee, finite, fnuz };

struct Format {
  std::string_view name;
  uint8_t size = 0; // bytes
  bool floating = false;
  bool is_signed = false;
  uint8_t exponent_bits = 0, mantissa_bits = 0;
  int bias = 0;
  Specials specials = Specials::none;
  uint8_t width = 0; // bits of an element that shares its byte; 0: has `size` bytes of its own
};

const Format& format_of(DType);
uint32_t size_of(DType); // bytes that must be touched for an element
std::string_view name_of(DType);
inline bool is_packed(DType type) { return format_of(type).width != 0; }
/// Bits of an element.
unsigned width_of(DType);
/// Bytes that so many elements take.
uint64_t bytes_of(DType, uint64_t elements);
inline bool is_floating(DType type) { return format_of(type).floating; }
std::optional<DType> dtype_from_name(std::string_view);
std::span<const std::string_view> dtype_names();

/// Bits of element `index` of an array, zero-extended.
uint64_t load_element(DType type, const uint8_t* array, uint64_t index);
void store_element(DType type, uint8_t* array, uint64_t index, uint64_t bits);

/// Likewise of an element with bytes of its own; `bytes` holds at least size_of(type).
uint64_t load_bits(DType type, const uint8_t* bytes);
void store_bits(DType type, uint64_t bits, uint8_t* bytes);

/// The value of an element; exact except for 64-bit integers beyond 2^53.
double value_of(DType type, uint64_t bits);
/// The element nearest to `value`, ties to even. Too large gives infinity, or the largest number where a format has no
/// infinity; NaN gives the format's quiet NaN, or zero where it has none. Integers saturate, and round towards zero.
uint64_t bits_of(DType type, double value);

/// f32 to 16 bits, nearest even; much faster than bits_of.
uint16_t half_from_float(float value);
uint16_t bfloat_from_float(float value);
float float_from_half(uint16_t bits);

} // namespace asmevo::launch
