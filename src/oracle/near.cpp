#include "oracle/near.h"

#include <cstring>

namespace asmevo::oracle {

namespace {

/// Compiled for several instruction sets and chosen at start-up; no operation is fused with another.
#define AE_EACH_SET [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]

using Bits = std::array<uint32_t, near_block>;

constexpr uint64_t lanes = 8; // sums side by side: one alone waits for itself
// Vectors of the compiler, which no instruction set has to have: it does not find this loop to be one of vectors.
using Singles = float __attribute__((vector_size(lanes * sizeof(float))));
using Doubles = double __attribute__((vector_size(lanes * sizeof(double))));

struct Lanes {
  std::array<double, lanes> most, dot, expected_square, got_square;
};

double sum(const std::array<double, lanes>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

/// Distances in units of the last place. False where something is no number.
AE_EACH_SET bool distances(const Bits& expected, const Bits& got, Bits& distance) {
  constexpr uint32_t sign = 1U << 31, infinite = 0x7f800000;
  uint32_t strange = 0;
  for (uint64_t i = 0; i < near_block; ++i) {
    const uint32_t x = expected[i] & ~sign, y = got[i] & ~sign;
    strange |= uint32_t(x >= infinite) | uint32_t(y >= infinite);
    const uint32_t same_side = std::max(x, y) - std::min(x, y);
    distance[i] = (expected[i] ^ got[i]) & sign ? x + y : same_side;
  }
  return !strange;
}

AE_EACH_SET void look(const Bits& expected, const Bits& got, const Bound& bound, Lanes& result) {
  Doubles most{}, dot{}, expected_square{}, got_square{};
  for (uint64_t i = 0; i < near_block; i += lanes) {
    Singles narrow_expected, narrow_got;
    std::memcpy(&narrow_expected, &expected[i], sizeof(Singles));
    std::memcpy(&narrow_got, &got[i], sizeof(Singles));
    const Doubles e = __builtin_convertvector(narrow_expected, Doubles),
                  g = __builtin_convertvector(narrow_got, Doubles);
    const Doubles signed_difference = g - e;
    const Doubles difference = signed_difference < 0 ? -signed_difference : signed_difference;
    const Doubles allowed = bound.floor + bound.relative * (e < 0 ? -e : e);
    const Doubles over = difference > 0 ? difference / allowed : difference;
    most = over > most ? over : most;
    dot += e * g;
    expected_square += e * e;
    got_square += g * g;
  }
  std::memcpy(&result.most, &most, sizeof most);
  std::memcpy(&result.dot, &dot, sizeof dot);
  std::memcpy(&result.expected_square, &expected_square, sizeof expected_square);
  std::memcpy(&result.got_square, &got_square, sizeof got_square);
}

AE_EACH_SET uint32_t count_from(const Bits& distance, uint32_t least) {
  uint32_t count = 0;
  for (uint64_t i = 0; i < near_block; ++i) count += distance[i] >= least;
  return count;
}

AE_EACH_SET uint32_t count_different(const Bits& a, const Bits& b) {
  uint32_t count = 0;
  for (uint64_t i = 0; i < near_block; ++i) count += a[i] != b[i];
  return count;
}

/// Those from 2^(k-1) on, less those from 2^k on.
void count_groups(const Bits& distance, uint64_t elements, UlpHistogram& ulps) {
  uint64_t left = elements; // those at least as far as the group
  for (size_t k = 0; k < ulps.counts.size() && left; ++k) {
    const uint64_t further = k < 32 ? count_from(distance, uint32_t{1} << k) : 0;
    ulps.counts[k] += left - further;
    left = further;
  }
}

} // namespace

std::optional<Near> compare_near(std::span<const uint8_t> expected, std::span<const uint8_t> got, const Bound& bound) {
  Bits a, b, distance;
  std::memcpy(a.data(), expected.data(), expected.size());
  std::memcpy(b.data(), got.data(), got.size());
  const uint64_t elements = expected.size() / sizeof(float);
  for (uint64_t i = elements; i < near_block; ++i) a[i] = b[i] = 0; // adds nothing
  if (!distances(a, b, distance)) return std::nullopt;
  Lanes l;
  look(a, b, bound, l);
  Near result;
  result.largest_excess = *std::ranges::max_element(l.most);
  if (!(result.largest_excess <= 1)) return std::nullopt;
  result.differing = count_different(a, b);
  result.dot = sum(l.dot);
  result.expected_square = sum(l.expected_square);
  result.got_square = sum(l.got_square);
  count_groups(distance, elements, result.ulps);
  return result;
}

} // namespace asmevo::oracle
