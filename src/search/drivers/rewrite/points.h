// Sets of points of a function: one before and one after each item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asmevo::search::rewrite {

using Points = std::vector<uint64_t>;

inline Points points_of_items(size_t items) { return Points((2 * items + 63) / 64); }
inline void set_point(Points& points, size_t point) { points[point / 64] |= uint64_t{1} << (point % 64); }

inline bool meet(const Points& a, const Points& b) {
  for (size_t w = 0; w < a.size(); ++w)
    if (a[w] & b[w]) return true;
  return false;
}

inline void join(Points& into, const Points& from) {
  for (size_t w = 0; w < from.size(); ++w) into[w] |= from[w];
}

} // namespace asmevo::search::rewrite
