// A result is millions of elements and most candidates leave the very same bytes, so comparing goes by blocks: equal
// blocks are told by memcmp, the rest are widened to double and compared in a loop without branches; only where that
// loop finds something is an element looked at alone. Blocks are summed in order: the cosine is the same at any number
// of threads.
#include "oracle/compare.h"

#include "oracle/near.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tbb/parallel_for.h>

namespace asmevo::oracle {

using launch::DType;

namespace {

constexpr uint64_t block = near_block; // elements
constexpr size_t most_shown = 8;
constexpr double infinity = std::numeric_limits<double>::infinity();

using Values = std::array<double, block>;

/// Values of the 8-bit formats by encoding.
const std::array<float, 256>& byte_values(DType dtype) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, size_t(DType::count_)> all{};
    for (size_t type = 0; type < all.size(); ++type)
      for (uint64_t bits = 0; bits < 256 && launch::size_of(DType(type)) == 1; ++bits)
        all[type][bits] = float(launch::value_of(DType(type), bits));
    return all;
  }();
  return tables[size_t(dtype)];
}

template <class T, class F> void widen_each(const uint8_t* bytes, uint64_t count, Values& out, F value) {
  std::array<T, block> narrow{};
  std::memcpy(narrow.data(), bytes, count * sizeof(T));
  for (uint64_t i = 0; i < count; ++i) out[i] = value(narrow[i]);
}

void widen(DType dtype, const uint8_t* bytes, uint64_t count, Values& out) {
  switch (dtype) {
  case DType::f32:
    return widen_each<float>(bytes, count, out, [](float v) { return double(v); });
  case DType::f64:
    return widen_each<double>(bytes, count, out, [](double v) { return v; });
  case DType::f16:
    return widen_each<uint16_t>(bytes, count, out, [](uint16_t v) { return double(launch::float_from_half(v)); });
  case DType::bf16:
    return widen_each<uint16_t>(bytes, count, out,
                                [](uint16_t v) { return double(std::bit_cast<float>(uint32_t{v} << 16)); });
  default: {
    const auto& values = byte_values(dtype);
    for (uint64_t i = 0; i < count && launch::is_packed(dtype); ++i)
      out[i] = double(values[launch::load_element(dtype, bytes, i)]);
    if (launch::is_packed(dtype)) return;
    return widen_each<uint8_t>(bytes, count, out, [&](uint8_t v) { return double(values[v]); });
  }
  }
}

struct BlockResult {
  uint64_t mismatches = 0, differing = 0;
  std::vector<Mismatch> first;
  double dot = 0, expected_square = 0, got_square = 0;
  double largest_excess = 0;
  UlpHistogram ulps;

  /// What lies behind.
  void add(const BlockResult& next) {
    mismatches += next.mismatches;
    differing += next.differing;
    for (const Mismatch& m : next.first)
      if (first.size() < most_shown) first.push_back(m);
    dot += next.dot;
    expected_square += next.expected_square;
    got_square += next.got_square;
    largest_excess = std::max(largest_excess, next.largest_excess);
    ulps.add(next.ulps);
  }
};

struct Comparer {
  const Expected& expected;
  std::span<const uint8_t> got;
  launch::Tolerance tolerance;
  double floor; // the part of the bound that does not depend on the element
  bool exact;

  Comparer(const Expected& e, std::span<const uint8_t> g, const launch::Tolerance& t)
      : expected(e), got(g), tolerance(t), floor(t.absolute + t.scaled * e.rms),
        exact(!launch::is_floating(e.buffer->dtype)) {}

  uint64_t bits(std::span<const uint8_t> bytes, uint64_t i) const {
    if (expected.buffer->dtype == DType::f32) {
      uint32_t word;
      std::memcpy(&word, bytes.data() + 4 * i, 4);
      return word;
    }
    return launch::load_element(expected.buffer->dtype, bytes.data(), i);
  }

  uint64_t bytes_of(uint64_t elements) const { return launch::bytes_of(expected.buffer->dtype, elements); }

  void note(BlockResult& result, uint64_t i) const {
    ++result.mismatches;
    if (result.first.size() < most_shown) result.first.push_back({i, bits(expected.bytes, i), bits(got, i)});
  }

  /// |got - expected| over the bound; above 1 is a mismatch.
  double excess(uint64_t i, double e, double g) const {
    if (bits(expected.bytes, i) == bits(got, i)) return 0;
    if (exact || expected.untouched.contains(i)) return infinity;
    if (std::isnan(e) && std::isnan(g)) return 0;
    if (!std::isfinite(e) || !std::isfinite(g)) return infinity;
    double bound = floor + tolerance.relative * std::fabs(e), difference = std::fabs(g - e);
    return difference == 0 ? 0 : bound > 0 ? difference / bound : infinity;
  }

  void count_ulps(BlockResult& result, uint64_t i, double e, double g) const {
    if (std::isnan(e) && std::isnan(g)) return result.ulps.add(uint64_t{0});
    const bool numbers = std::isfinite(e) && std::isfinite(g);
    result.ulps.add(numbers ? ulp_distance(expected.buffer->dtype, bits(expected.bytes, i), bits(got, i))
                            : ~uint64_t{0});
  }

  /// The usual case: 32-bit floats that differ a little.
  bool run_near(BlockResult& result, std::span<const uint8_t> e, std::span<const uint8_t> g) const {
    if (expected.buffer->dtype != DType::f32 || !expected.untouched.empty() || !expected.ignored.empty()) return false;
    const auto near = compare_near(e, g, {floor, tolerance.relative});
    if (!near) return false;
    result = {.differing = near->differing,
              .dot = near->dot,
              .expected_square = near->expected_square,
              .got_square = near->got_square,
              .largest_excess = near->largest_excess,
              .ulps = near->ulps};
    return true;
  }

  void sum(BlockResult& result, uint64_t start, uint64_t count, const Values& e, const Values& g) const {
    constexpr uint64_t lanes = 8; // sums side by side: one alone waits for itself
    constexpr double largest = std::numeric_limits<double>::max();
    std::array<double, lanes> dot{}, expected_square{}, got_square{};
    const auto add = [&](uint64_t lane, double x, double y) {
      const bool finite = (std::fabs(x) <= largest) & (std::fabs(y) <= largest);
      const double a = finite ? x : 0, b = finite ? y : 0;
      dot[lane] += a * b;
      expected_square[lane] += a * a;
      got_square[lane] += b * b;
    };
    const uint64_t whole = expected.ignored.empty() ? count / lanes * lanes : 0;
    for (uint64_t i = 0; i < whole; i += lanes)
      for (uint64_t lane = 0; lane < lanes; ++lane) add(lane, e[i + lane], g[i + lane]);
    for (uint64_t i = whole; i < count; ++i)
      if (!expected.ignored.contains(start + i)) add(i % lanes, e[i], g[i]);
    for (uint64_t lane = 0; lane < lanes; ++lane) {
      result.dot += dot[lane];
      result.expected_square += expected_square[lane];
      result.got_square += got_square[lane];
    }
  }

  BlockResult run(uint64_t start, uint64_t count) const {
    BlockResult result;
    const uint64_t at = bytes_of(start);
    const uint8_t *e = expected.bytes.data() + at, *g = got.data() + at;
    bool same = std::memcmp(e, g, bytes_of(count)) == 0;
    if (!same && run_near(result, {e, bytes_of(count)}, {g, bytes_of(count)})) return result;
    Values expected_values, got_values;
    if (!exact && (!same || tolerance.cosine > 0)) {
      widen(expected.buffer->dtype, e, count, expected_values);
      if (!same) widen(expected.buffer->dtype, g, count, got_values);
      sum(result, start, count, expected_values, same ? expected_values : got_values);
    }
    if (same) {
      result.ulps.counts[0] += count;
      return result;
    }
    for (uint64_t i = 0; i < count; ++i) {
      if (bits(expected.bytes, start + i) == bits(got, start + i)) {
        ++result.ulps.counts[0];
        continue;
      }
      ++result.differing;
      if (!exact) count_ulps(result, start + i, expected_values[i], got_values[i]);
      double over = exact ? infinity : excess(start + i, expected_values[i], got_values[i]);
      result.largest_excess = std::max(result.largest_excess, over);
      if (over > 1) note(result, start + i);
    }
    return result;
  }
};

} // namespace

uint64_t ElementSet::size() const {
  uint64_t count = 0;
  for (uint64_t word : words_) count += uint64_t(std::popcount(word));
  return count;
}

Expected make_expected(const launch::Buffer& buffer, device::Contents bytes, ElementSet untouched, ElementSet ignored) {
  Expected expected{&buffer, std::move(bytes), std::move(untouched), std::move(ignored)};
  if (!launch::is_floating(buffer.dtype)) return expected;
  uint64_t elements = buffer.elements(), blocks = (elements + block - 1) / block;
  std::vector<double> squares(blocks);
  std::vector<uint64_t> counts(blocks);
  tbb::parallel_for(uint64_t{0}, blocks, [&](uint64_t b) {
    Values values;
    uint64_t start = b * block, count = std::min(block, elements - start);
    widen(buffer.dtype, expected.bytes.data() + launch::bytes_of(buffer.dtype, start), count, values);
    for (uint64_t i = 0; i < count; ++i) {
      bool counted = std::isfinite(values[i]) && !expected.ignored.contains(start + i);
      squares[b] += counted ? values[i] * values[i] : 0;
      counts[b] += counted;
    }
  });
  double square = 0, count = 0;
  for (uint64_t b = 0; b < blocks; ++b) {
    square += squares[b];
    count += double(counts[b]);
  }
  if (count > 0) expected.rms = std::sqrt(square / count);
  return expected;
}

Comparison compare(const Expected& expected, std::span<const uint8_t> got, const launch::Tolerance& tolerance) {
  Comparer comparer(expected, got, tolerance);
  Comparison result;
  if (std::memcmp(expected.bytes.data(), got.data(), got.size()) == 0) {
    result.ulps.counts[0] = expected.buffer->elements();
    return result;
  }
  constexpr uint64_t stretch = 64 * block; // elements that one result is made of
  const uint64_t elements = expected.buffer->elements(), stretches = (elements + stretch - 1) / stretch;
  std::vector<BlockResult> parts(stretches);
  tbb::parallel_for(uint64_t{0}, stretches, [&](uint64_t k) {
    const uint64_t end = std::min((k + 1) * stretch, elements);
    for (uint64_t at = k * stretch; at < end; at += block) parts[k].add(comparer.run(at, std::min(block, end - at)));
  });
  BlockResult whole;
  for (const BlockResult& part : parts) whole.add(part);
  result.mismatches = whole.mismatches;
  result.differing = whole.differing;
  result.ulps = whole.ulps;
  result.largest_excess = whole.largest_excess;
  result.first = std::move(whole.first);
  const double dot = whole.dot, expected_square = whole.expected_square, got_square = whole.got_square;
  if (comparer.exact || tolerance.cosine <= 0) return result;
  double norms = std::sqrt(expected_square) * std::sqrt(got_square);
  result.cosine = norms > 0 ? dot / norms : expected_square == got_square ? 1 : 0;
  result.cosine_failed = result.cosine < tolerance.cosine;
  return result;
}

uint64_t ulp_distance(DType dtype, uint64_t a, uint64_t b) {
  const launch::Format& f = launch::format_of(dtype);
  unsigned width = launch::width_of(dtype);
  uint64_t sign = uint64_t{1} << (width - 1), mask = sign - 1;
  // On a line: magnitudes of floating-point encodings are in order, negative ones run the other way.
  auto line = [&](uint64_t bits) -> __int128 {
    if (!f.floating) return f.is_signed ? __int128(int64_t(bits << (64 - width)) >> (64 - width)) : __int128(bits);
    return bits & sign ? -__int128(bits & mask) : __int128(bits & mask);
  };
  __int128 distance = line(a) - line(b);
  if (distance < 0) distance = -distance;
  return distance > __int128(UINT64_MAX) ? UINT64_MAX : uint64_t(distance);
}

std::vector<uint64_t> index_in(const std::vector<uint64_t>& shape, uint64_t flat) {
  std::vector<uint64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; flat /= shape[d]) index[d] = flat % shape[d];
  return index;
}

std::vector<IndexRange> mismatch_extent(const Expected& expected, std::span<const uint8_t> got,
                                        const launch::Tolerance& tolerance) {
  Comparer comparer(expected, got, tolerance);
  const auto& shape = expected.buffer->shape;
  std::vector<IndexRange> extent(shape.size());
  Values e{}, g{};
  uint64_t elements = expected.buffer->elements();
  for (uint64_t start = 0; start < elements; start += block) {
    uint64_t count = std::min(block, elements - start), at = comparer.bytes_of(start);
    if (std::memcmp(expected.bytes.data() + at, got.data() + at, comparer.bytes_of(count)) == 0) continue;
    if (!comparer.exact) {
      widen(expected.buffer->dtype, expected.bytes.data() + at, count, e);
      widen(expected.buffer->dtype, got.data() + at, count, g);
    }
    for (uint64_t i = 0; i < count; ++i) {
      if (!(comparer.excess(start + i, e[i], g[i]) > 1)) continue;
      std::vector<uint64_t> index = index_in(shape, start + i);
      for (size_t d = 0; d < shape.size(); ++d)
        extent[d] = {std::min(extent[d].low, index[d]), std::max(extent[d].high, index[d])};
    }
  }
  return extent;
}

} // namespace asmevo::oracle
