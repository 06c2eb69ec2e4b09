#include "launch/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace asmevo::launch {

namespace {

constexpr size_t type_count = size_t(DType::count_);

constexpr std::array<Format, type_count> formats{{
    {"u8", 1, false, false},
    {"i8", 1, false, true},
    {"u16", 2, false, false},
    {"i16", 2, false, true},
    {"u32", 4, false, false},
    {"i32", 4, false, true},
    {"u64", 8, false, false},
    {"i64", 8, false, true},
    {"f16", 2, true, true, 5, 10, 15, Specials::ieee},
    {"bf16", 2, true, true, 8, 7, 127, Specials::ieee},
    {"f32", 4, true, true, 8, 23, 127, Specials::ieee},
    {"f64", 8, true, true, 11, 52, 1023, Specials::ieee},
    {"fp8", 1, true, true, 4, 3, 8, Specials::fnuz},
    {"bf8", 1, true, true, 5, 2, 16, Specials::fnuz},
    {"fp8_ocp", 1, true, true, 4, 3, 7, Specials::finite},
    {"bf8_ocp", 1, true, true, 5, 2, 15, Specials::ieee},
    {"fp4", 1, true, true, 2, 1, 1, Specials::none, 4},
    {"i4", 1, false, true, 0, 0, 0, Specials::none, 4},
    {"u4", 1, false, false, 0, 0, 0, Specials::none, 4},
}};

constexpr auto names = [] {
  std::array<std::string_view, type_count> list;
  for (size_t i = 0; i < type_count; ++i) list[i] = formats[i].name;
  return list;
}();

uint64_t quiet_nan(const Format& f) {
  uint64_t exponent = ((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
  switch (f.specials) {
  case Specials::none:
    return 0;
  case Specials::fnuz:
    return 0x80;
  case Specials::finite:
    return exponent | ((uint64_t{1} << f.mantissa_bits) - 1);
  default:
    return exponent | uint64_t{1} << (f.mantissa_bits - 1);
  }
}

/// The encoding (without sign) of the largest number, and of what is beyond it.
uint64_t largest_number(const Format& f) {
  uint64_t all = (uint64_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1;
  switch (f.specials) {
  case Specials::ieee:
    return all - (uint64_t{1} << f.mantissa_bits);
  case Specials::finite:
    return all - 1;
  default:
    return all;
  }
}

double small_value(const Format& f, uint64_t bits) {
  uint64_t mantissa_mask = (uint64_t{1} << f.mantissa_bits) - 1;
  uint64_t sign = bits >> (f.exponent_bits + f.mantissa_bits) & 1;
  uint64_t exponent = bits >> f.mantissa_bits & ((uint64_t{1} << f.exponent_bits) - 1);
  uint64_t mantissa = bits & mantissa_mask;
  uint64_t top = (uint64_t{1} << f.exponent_bits) - 1;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (f.specials == Specials::fnuz && sign && !exponent && !mantissa) return nan;
  if (f.specials == Specials::finite && exponent == top && mantissa == mantissa_mask) return nan;
  double magnitude;
  if (f.specials == Specials::ieee && exponent == top)
    magnitude = mantissa ? nan : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(double(mantissa), 1 - f.bias - f.mantissa_bits);
  else
    magnitude = std::ldexp(double(mantissa | (mantissa_mask + 1)), int(exponent) - f.bias - f.mantissa_bits);
  return sign ? -magnitude : magnitude;
}

uint64_t small_bits(const Format& f, double value) {
  if (std::isnan(value)) return quiet_nan(f);
  uint64_t sign = uint64_t{std::signbit(value)} << (f.exponent_bits + f.mantissa_bits);
  double magnitude = std::fabs(value);
  uint64_t largest = largest_number(f);
  uint64_t beyond = f.specials == Specials::ieee ? largest + 1 : largest;
  if (std::isinf(magnitude)) return sign | beyond;
  // In units of the last place of the exponent that `magnitude` has, rounding carries into the exponent by itself.
  int exponent = magnitude == 0 ? 1 - f.bias : std::max(std::ilogb(magnitude), 1 - f.bias);
  double units = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent));
  uint64_t encoded = uint64_t(units) + (uint64_t(exponent + f.bias - 1) << f.mantissa_bits);
  if (encoded > largest) encoded = beyond;
  if (f.specials == Specials::fnuz && encoded == 0) return 0;
  return sign | encoded;
}

template <class T> uint64_t saturated(double value) {
  if (std::isnan(value)) return 0;
  constexpr double below = double(std::numeric_limits<T>::min());
  constexpr double above = double(std::numeric_limits<T>::max());
  T result = value <= below ? std::numeric_limits<T>::min() : value >= above ? std::numeric_limits<T>::max() : T(value);
  return uint64_t(std::make_unsigned_t<T>(result));
}

} // namespace

const Format& format_of(DType type) { return formats[size_t(type)]; }
uint32_t size_of(DType type) { return format_of(type).size; }
std::string_view name_of(DType type) { return format_of(type).name; }
std::span<const std::string_view> dtype_names() { return names; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < type_count; ++i)
    if (names[i] == name) return DType(i);
  return std::nullopt;
}

unsigned width_of(DType type) { return is_packed(type) ? format_of(type).width : 8 * size_of(type); }

uint64_t bytes_of(DType type, uint64_t elements) {
  return is_packed(type) ? elements / 2 + elements % 2 : elements * size_of(type);
}

uint64_t load_element(DType type, const uint8_t* array, uint64_t index) {
  if (!is_packed(type)) return load_bits(type, array + index * size_of(type));
  return array[index / 2] >> index % 2 * 4 & 15;
}

void store_element(DType type, uint8_t* array, uint64_t index, uint64_t bits) {
  if (!is_packed(type)) return store_bits(type, bits, array + index * size_of(type));
  const unsigned shift = index % 2 * 4;
  array[index / 2] = uint8_t((array[index / 2] & ~(15u << shift)) | (bits & 15) << shift);
}

uint64_t load_bits(DType type, const uint8_t* bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, size_of(type));
  return bits;
}

void store_bits(DType type, uint64_t bits, uint8_t* bytes) { std::memcpy(bytes, &bits, size_of(type)); }

double value_of(DType type, uint64_t bits) {
  switch (type) {
  case DType::u8:
  case DType::u16:
  case DType::u32:
  case DType::u64:
  case DType::u4:
    return double(bits);
  case DType::i4:
    return double(int64_t(bits << 60) >> 60);
  case DType::i8:
    return double(int8_t(bits));
  case DType::i16:
    return double(int16_t(bits));
  case DType::i32:
    return double(int32_t(bits));
  case DType::i64:
    return double(int64_t(bits));
  case DType::f32:
    return std::bit_cast<float>(uint32_t(bits));
  case DType::f64:
    return std::bit_cast<double>(bits);
  default:
    return small_value(format_of(type), bits);
  }
}

uint64_t bits_of(DType type, double value) {
  switch (type) {
  case DType::u4:
    return saturated<uint8_t>(std::fmin(value, 15));
  case DType::i4:
    return saturated<int8_t>(std::fmax(std::fmin(value, 7), -8)) & 15;
  case DType::u8:
    return saturated<uint8_t>(value);
  case DType::i8:
    return saturated<int8_t>(value);
  case DType::u16:
    return saturated<uint16_t>(value);
  case DType::i16:
    return saturated<int16_t>(value);
  case DType::u32:
    return saturated<uint32_t>(value);
  case DType::i32:
    return saturated<int32_t>(value);
  case DType::u64:
    return saturated<uint64_t>(value);
  case DType::i64:
    return saturated<int64_t>(value);
  case DType::f32:
    return std::bit_cast<uint32_t>(float(value));
  case DType::f64:
    return std::bit_cast<uint64_t>(value);
  default:
    return small_bits(format_of(type), value);
  }
}

uint16_t half_from_float(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return uint16_t(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return uint16_t(sign | 0x7c00); // 65520 and more round to infinity
  if (magnitude < 0x38800000) {                                // below 2^-14: denormal or zero
    // Adding 0.5 puts the units of 2^-24 into the low mantissa bits, rounded by the addition itself.
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  uint32_t odd = magnitude >> 13 & 1;
  return uint16_t(sign | (magnitude + 0xc8000fff + odd) >> 13);
}

uint16_t bfloat_from_float(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float float_from_half(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
  float denormal = float(magnitude) * 0x1p-24f;
  return sign ? -denormal : denormal;
}

} // namespace asmevo::launch
