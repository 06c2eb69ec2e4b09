// Random contents of buffers.
//
// The oracle runs the same input on several binaries, on several days and machines, so an input must be a pure function
// of its seed: not of the C library's logarithm, not of the order in which threads filled it. Random numbers are a hash
// of the element's index (counter-based), so any part of a buffer can be made alone, and the normal distribution is
// Box-Muller over polynomials written here, in IEEE operations that round alike everywhere (this file is compiled
// without fused multiply-add). A 4096 x 4096 input is filled again for every run, so the loops are written for the
// vectoriser: chunks of fixed size, no branches, no calls.
//
// Poison is what results and scratch hold before a run: words that differ from place to place and from seed to seed. An
// output byte that a kernel never writes keeps it, and a kernel that reads it gives another answer under another seed.
#include "launch/random_fill.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace asmevo::launch {

namespace {

/// Compiled for several instruction sets and chosen at start-up; the same operations in all, and none fused.
#define AE_EACH_SET [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]

constexpr size_t chunk = 1024; // elements; even, because Box-Muller makes pairs

uint32_t mixed(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  x ^= x >> 16;
  return x;
}

/// Two 32-bit keys of a stream of random words.
struct Stream {
  uint32_t a = 0, b = 0;

  Stream(uint64_t seed, std::string_view name, uint64_t purpose) {
    uint64_t hash = 0xcbf29ce484222325;
    for (char c : name) hash = (hash ^ uint8_t(c)) * 0x100000001b3;
    for (uint64_t word : {seed, purpose}) {
      hash ^= word;
      hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
      hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
      hash ^= hash >> 31;
    }
    a = uint32_t(hash);
    b = uint32_t(hash >> 32);
  }

  /// The stream of words for indices with the upper half `high`: 2^32 words are not enough for the largest buffers.
  Stream part(uint64_t index) const {
    Stream s = *this;
    s.b += mixed(uint32_t(index >> 32));
    return s;
  }

  uint32_t word(uint32_t index) const { return mixed(mixed(index ^ a) + b); }
};

using Words = std::array<uint32_t, chunk>;

AE_EACH_SET void random_words(const Stream& stream, uint64_t start, Words& out) {
  Stream s = stream.part(start);
  uint32_t first = uint32_t(start);
  for (size_t i = 0; i < chunk; ++i) out[i] = s.word(first + uint32_t(i));
}

template <class T> using Values = std::array<T, chunk>;

/// 24 random bits as a number in (0, 1): never 0, whose logarithm does not exist.
template <class T> T open_unit(uint32_t word) { return (T(int32_t(word >> 8)) + T(0.5)) * T(0x1p-24); }

/// Natural logarithm of x in (0, 1], to about 2e-8 relative: exponent and a polynomial of (m - 1) / (m + 1).
template <class T> T logarithm(T x) {
  float narrow = float(x);
  uint32_t bits = std::bit_cast<uint32_t>(narrow);
  int32_t exponent = int32_t(bits - 0x3f3504f3) >> 23; // mantissa in [sqrt(1/2), sqrt(2))
  T mantissa = T(std::bit_cast<float>(bits - (uint32_t(exponent) << 23)));
  T t = (mantissa - 1) / (mantissa + 1), square = t * t;
  T series = T(2) + square * (T(0.6666666666666667) +
                              square * (T(0.4) + square * (T(0.2857142857142857) + square * T(0.2222222222222222))));
  return T(exponent) * T(0.6931471805599453) + t * series;
}

/// sin(pi/2 * x) for x in [-1, 1].
template <class T> T quarter_sine(T x) {
  T s = x * x;
  return x *
         (T(1.5707963267948966) +
          s * (T(-0.6459640975062463) +
               s * (T(0.07969262624616704) +
                    s * (T(-0.004681754135318687) + s * (T(0.00016044118478735982) + s * T(-3.598843235212085e-06))))));
}

template <class T>
[[gnu::always_inline]] inline void normal_values(const Words& words, double mean, double sigma, Values<T>& out) {
  for (size_t i = 0; i < chunk / 2; ++i) {
    T radius = std::sqrt(T(-2) * logarithm(open_unit<T>(words[i]))) * T(sigma);
    // An angle as 32 bits of a turn: x in [-1, 1) is the angle from the nearest of two axes in quarter turns.
    uint32_t angle = words[i + chunk / 2];
    T x = T(int32_t((angle << 1) ^ 0x80000000) >> 8) * T(0x1p-23);
    T sine = quarter_sine(x);
    T sign = angle >> 31 ? T(-1) : T(1);
    T cosine = quarter_sine(T(1) - (x < 0 ? -x : x));
    out[i] = T(mean) + radius * sine * sign;
    out[i + chunk / 2] = T(mean) + radius * cosine * sign;
  }
}

AE_EACH_SET void normal_values_of(const Words& words, double mean, double sigma, Values<float>& out) {
  normal_values(words, mean, sigma, out);
}
AE_EACH_SET void normal_values_of(const Words& words, double mean, double sigma, Values<double>& out) {
  normal_values(words, mean, sigma, out);
}

template <class T> void uniform_values(const Words& words, double low, double high, Values<T>& out) {
  for (size_t i = 0; i < chunk; ++i) out[i] = T(low) + T(high - low) * (T(int32_t(words[i] >> 8)) * T(0x1p-24));
}

/// What is rare in random data and common in bugs, as values; the element type rounds them to its own extremes.
uint64_t special_bits(DType type, uint32_t choice) {
  const Format& f = format_of(type);
  uint64_t sign = choice & 1 ? uint64_t{1} << (width_of(type) - 1) : 0;
  if (!f.floating) {
    uint64_t all = ~uint64_t{0} >> (64 - width_of(type));
    uint64_t table[] = {0, 1, all, all >> 1, (all >> 1) + 1, all - 1, 2, all >> 2};
    return table[choice % std::size(table)];
  }
  uint64_t smallest_normal = uint64_t{1} << f.mantissa_bits;
  switch (choice / 2 % 8) {
  case 0:
    return f.specials == Specials::fnuz ? 0 : sign; // zeros
  case 1:
    return sign | 1; // smallest denormal
  case 2:
    return sign | (smallest_normal - 1); // largest denormal
  case 3:
    return sign | smallest_normal;
  case 4:
    return sign | bits_of(type, 1.0);
  case 5:
    return bits_of(type, sign ? -HUGE_VAL : HUGE_VAL); // infinity, or the largest number
  case 6:                                              // the quiet NaN, and one with all bits set
    return sign && f.specials != Specials::fnuz ? sign - 1 : bits_of(type, std::nan(""));
  default:
    return sign | (bits_of(type, HUGE_VAL) - 1); // largest number below it
  }
}

/// Of the special values those of which every order of additions makes the same, and infinities most often.
uint64_t nonfinite_bits(DType type, uint32_t choice) {
  constexpr uint32_t zero = 0, infinity = 5, nan = 6;
  constexpr uint32_t kinds[] = {zero, zero, zero, infinity, infinity, infinity, infinity, nan};
  const uint32_t kind = format_of(type).specials == Specials::ieee ? kinds[choice / 2 % 8] : zero;
  return special_bits(type, 2 * kind + choice % 2);
}

template <class T> void store_chunk(DType type, const Values<T>& values, uint8_t* into, size_t count) {
  switch (type) {
  case DType::f16: {
    std::array<uint16_t, chunk> narrow;
    for (size_t i = 0; i < chunk; ++i) narrow[i] = half_from_float(float(values[i]));
    std::memcpy(into, narrow.data(), count * 2);
    return;
  }
  case DType::bf16: {
    std::array<uint16_t, chunk> narrow;
    for (size_t i = 0; i < chunk; ++i) narrow[i] = bfloat_from_float(float(values[i]));
    std::memcpy(into, narrow.data(), count * 2);
    return;
  }
  case DType::f32: {
    std::array<float, chunk> narrow;
    for (size_t i = 0; i < chunk; ++i) narrow[i] = float(values[i]);
    std::memcpy(into, narrow.data(), count * 4);
    return;
  }
  default: {
    for (size_t i = 0; i < count; ++i) {
      double value = double(values[i]);
      store_element(type, into, i, bits_of(type, is_floating(type) ? value : std::floor(value)));
    }
  }
  }
}

template <class T>
void real_chunk(const Fill& fill, DType type, const Stream& stream, uint64_t start, uint8_t* into, size_t count) {
  Values<T> values;
  Words words;
  random_words(stream, start, words);
  const bool given = fill.kind == FillKind::normal;
  if (fill.kind == FillKind::uniform)
    uniform_values(words, fill.a, fill.b, values);
  else
    normal_values_of(words, given ? fill.a : 0, given ? fill.b : 1, values);
  store_chunk(type, values, into, count);
}

void integer_chunk(const Fill& fill, DType type, const Stream& stream, uint64_t start, uint8_t* into, size_t count) {
  Words words;
  random_words(stream, start, words);
  uint64_t range = uint64_t(int64_t(fill.b) - int64_t(fill.a)) + 1;
  Stream upper = stream.part(start);
  for (size_t i = 0; i < count; ++i) {
    uint64_t random = range >> 32 ? uint64_t{words[i]} << 32 | mixed(words[i] + upper.a) : words[i];
    uint64_t offset = range >> 32 ? random % range : random * range >> 32;
    int64_t value = int64_t(fill.a) + int64_t(offset);
    store_element(type, into, i, is_floating(type) ? bits_of(type, double(value)) : uint64_t(value));
  }
}

void special_chunk(const Fill& fill, DType type, const Stream& stream, uint64_t start, uint8_t* into, size_t count) {
  if (is_floating(type))
    real_chunk<float>({.kind = FillKind::normal, .a = 0, .b = 1}, type, stream, start, into, count);
  else
    integer_chunk({.kind = FillKind::integers, .a = 0, .b = 100}, type, stream, start, into, count);
  Stream s = stream.part(start);
  const auto bits_of_choice = fill.kind == FillKind::nonfinite ? nonfinite_bits : special_bits;
  uint32_t share = uint32_t(std::min(fill.a * 0x1p32, 4294967295.0));
  for (size_t i = 0; i < count; ++i) {
    uint32_t word = mixed(s.word(uint32_t(start + i)) ^ 0x9e3779b9);
    if (word <= share) store_element(type, into, i, bits_of_choice(type, mixed(word)));
  }
}

uint64_t block_of(const Buffer& buffer) { return buffer.fill.a > 0 ? uint64_t(buffer.fill.a) : buffer.elements(); }

/// A bijection of [0, 2^bits): rounds that each can be undone.
uint64_t scrambled(const Stream& stream, uint64_t x, unsigned bits) {
  uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  for (unsigned round = 0; round < 4; ++round) {
    x = (x + (uint64_t{stream.word(round * 2)} << 32 | stream.word(round * 2 + 1))) & mask;
    x = x * 0x9e3779b97f4a7c15 & mask;
    x ^= x >> (bits / 2 + 1);
  }
  return x;
}

/// Every block of n elements is a permutation of 0 to n - 1: walks the bijection of the next power of two until it is
/// inside.
void permutation_chunk(const Buffer& buffer, const Stream& stream, uint64_t start, uint8_t* into, size_t count) {
  uint64_t n = block_of(buffer);
  unsigned bits = std::max(1u, unsigned(std::bit_width(n - 1)));
  for (size_t i = 0; i < count; ++i) {
    Stream own = stream.part((start + i) / n << 32);
    uint64_t value = (start + i) % n;
    do value = scrambled(own, value, bits);
    while (value >= n);
    store_element(buffer.dtype, into, i, bits_of(buffer.dtype, double(value)));
  }
}

/// Rising offsets from 0 to the total, as row starts of a sparse matrix are.
void offsets_chunk(const Buffer& buffer, const Stream& stream, uint64_t start, uint8_t* into, size_t count) {
  double total = double(block_of(buffer)), steps = double(std::max<uint64_t>(buffer.elements() - 1, 1));
  for (size_t i = 0; i < count; ++i) {
    double place = double(start + i);
    bool inner = start + i > 0 && place < steps;
    if (inner) place += double(stream.part(start).word(uint32_t(start + i))) * 0x1p-32 - 0.5;
    store_element(buffer.dtype, into, i, bits_of(buffer.dtype, std::floor(total * place / steps)));
  }
}

void fill_chunk(const Buffer& buffer, const Stream& stream, uint64_t start, uint8_t* into, size_t count) {
  switch (buffer.fill.kind) {
  case FillKind::uniform:
  case FillKind::normal:
    if (buffer.dtype == DType::f64)
      real_chunk<double>(buffer.fill, buffer.dtype, stream, start, into, count);
    else
      real_chunk<float>(buffer.fill, buffer.dtype, stream, start, into, count);
    return;
  case FillKind::integers:
    return integer_chunk(buffer.fill, buffer.dtype, stream, start, into, count);
  case FillKind::special:
  case FillKind::nonfinite:
    return special_chunk(buffer.fill, buffer.dtype, stream, start, into, count);
  case FillKind::permutation:
    return permutation_chunk(buffer, stream, start, into, count);
  case FillKind::offsets:
    return offsets_chunk(buffer, stream, start, into, count);
  default:
    return; // fills that are no function of an index are done in one go
  }
}

} // namespace

void fill_poison(uint64_t poison_seed, std::string_view name, uint64_t start, std::span<uint8_t> into) {
  Stream stream(poison_seed, name, 2);
  tbb::parallel_for(tbb::blocked_range<uint64_t>(0, (into.size() + chunk * 4 - 1) / (chunk * 4), 64),
                    [&](const auto& range) {
                      Words words;
                      for (uint64_t c = range.begin(); c < range.end(); ++c) {
                        random_words(stream, start / 4 + c * chunk, words);
                        std::memcpy(into.data() + c * chunk * 4, words.data(),
                                    std::min<size_t>(chunk * 4, into.size() - c * chunk * 4));
                      }
                    });
}

void fill_random(const Buffer& buffer, uint64_t seed, std::span<uint8_t> into) {
  Stream stream(seed, buffer.name, 1);
  uint64_t elements = buffer.elements(), chunks = (elements + chunk - 1) / chunk;
  tbb::parallel_for(tbb::blocked_range<uint64_t>(0, chunks, 64), [&](const auto& range) {
    for (uint64_t c = range.begin(); c < range.end(); ++c)
      fill_chunk(buffer, stream, c * chunk, into.data() + bytes_of(buffer.dtype, c * chunk),
                 size_t(std::min<uint64_t>(chunk, elements - c * chunk)));
  });
}

} // namespace asmevo::launch
