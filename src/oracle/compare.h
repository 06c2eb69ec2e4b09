// One buffer against what K0 left there.
//
// Integers must be equal. Floating-point elements must lie within the bound, NaN only where K0 has NaN (any NaN:
// payloads are not results), infinities exactly; and where K0 left the poison untouched, the poison must still be
// there, byte for byte. Untouched elements say nothing about the size of results, so they count neither in the root
// mean square nor in the cosine.
#pragma once

#include "device/contents.h"
#include "launch/launch.h"
#include "oracle/ulp_histogram.h"

#include <span>

namespace asmevo::oracle {

/// One bit an element; empty means no element is marked.
class ElementSet {
public:
  bool empty() const { return words_.empty(); }
  bool contains(uint64_t i) const { return !words_.empty() && (words_[i / 64] >> i % 64 & 1); }
  void insert(uint64_t i, uint64_t elements) {
    if (words_.empty()) words_.resize((elements + 63) / 64);
    words_[i / 64] |= uint64_t{1} << i % 64;
  }
  uint64_t size() const;

private:
  std::vector<uint64_t> words_;
};

/// What K0 left in a result buffer.
struct Expected {
  const launch::Buffer* buffer = nullptr;
  device::Contents bytes;
  ElementSet untouched; // still hold the poison: must keep it
  ElementSet ignored;   // may hold poison by their bits: do not count in rms and cosine. Contains `untouched`
  double rms = 0;       // of finite elements that are not ignored
};

/// Computes `rms`.
Expected make_expected(const launch::Buffer& buffer, device::Contents bytes, ElementSet untouched, ElementSet ignored);

struct Mismatch {
  uint64_t index = 0;
  uint64_t expected = 0, got = 0; // bits
};

struct Comparison {
  uint64_t mismatches = 0;
  std::vector<Mismatch> first; // up to 8, by index
  uint64_t differing = 0;      // elements whose bits differ, allowed or not
  double cosine = 1;
  double largest_excess = 0; // the largest |got - expected| / bound; infinite for NaN, infinity and exact elements
  bool cosine_failed = false;
  UlpHistogram ulps; // floating-point results
  bool passed() const { return mismatches == 0 && !cosine_failed; }
};

Comparison compare(const Expected& expected, std::span<const uint8_t> got, const launch::Tolerance& tolerance);

/// Distance in units of the last place: how many representable values lie between; saturates. Integers: difference.
uint64_t ulp_distance(launch::DType dtype, uint64_t a, uint64_t b);

/// Where in the shape mismatches lie: for each dimension the lowest and highest index that has one.
struct IndexRange {
  uint64_t low = UINT64_MAX, high = 0;
};
std::vector<IndexRange> mismatch_extent(const Expected& expected, std::span<const uint8_t> got,
                                        const launch::Tolerance& tolerance);

/// The index of a flat, row-major element number.
std::vector<uint64_t> index_in(const std::vector<uint64_t>& shape, uint64_t flat);

} // namespace asmevo::oracle
