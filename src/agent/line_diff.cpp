#include "agent/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace asmevo::agent {
namespace {

using Lines = std::vector<std::string_view>;

constexpr size_t largest_table = size_t{16} << 20; // cells of the table of common lines

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Longest common subsequence of both, as a walk through its table.
void append_middle(std::vector<DiffLine>& out, std::span<const std::string_view> a,
                   std::span<const std::string_view> b) {
  const size_t width = b.size() + 1;
  std::vector<uint32_t> common; // of a[i..], b[j..]
  if ((a.size() + 1) * width <= largest_table) common.assign((a.size() + 1) * width, 0);
  if (!common.empty())
    for (size_t i = a.size(); i-- > 0;)
      for (size_t j = b.size(); j-- > 0;)
        common[i * width + j] = a[i] == b[j] ? common[(i + 1) * width + j + 1] + 1
                                             : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool same = !common.empty() && i < a.size() && j < b.size() && a[i] == b[j];
    const bool drop =
        i < a.size() && (j == b.size() || common.empty() || common[(i + 1) * width + j] >= common[i * width + j + 1]);
    if (same)
      out.push_back({' ', std::string(a[i++])}), ++j;
    else if (drop)
      out.push_back({'-', std::string(a[i++])});
    else
      out.push_back({'+', std::string(b[j++])});
  }
}

std::vector<DiffLine> near_changes(const std::vector<DiffLine>& all, size_t context) {
  std::vector<bool> keep(all.size());
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].sign != ' ')
      for (size_t k = i < context ? 0 : i - context; k < std::min(all.size(), i + context + 1); ++k) keep[k] = true;
  std::vector<DiffLine> out;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!keep[i]) continue;
    if (!out.empty() && !keep[i - 1]) out.push_back({' ', "..."});
    out.push_back(all[i]);
  }
  return out;
}

} // namespace

std::vector<DiffLine> line_diff(std::string_view from, std::string_view to, size_t context) {
  const Lines a = lines_of(from), b = lines_of(to);
  size_t head = 0, tail = 0;
  const size_t shorter = std::min(a.size(), b.size());
  while (head < shorter && a[head] == b[head]) ++head;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  std::vector<DiffLine> all;
  for (size_t i = 0; i < head; ++i) all.push_back({' ', std::string(a[i])});
  append_middle(all, std::span(a).subspan(head, a.size() - head - tail),
                std::span(b).subspan(head, b.size() - head - tail));
  for (size_t i = a.size() - tail; i < a.size(); ++i) all.push_back({' ', std::string(a[i])});
  return near_changes(all, context);
}

} // namespace asmevo::agent
