#include "search/alignment.h"

#include <algorithm>

namespace asmevo::search {
namespace {

constexpr size_t largest_table = size_t{16} << 20; // cells of the table of common lines

bool is_filler(const recover::Item& item) {
  return item.kind == recover::ItemKind::instruction &&
         (item.text.starts_with("s_waitcnt") || item.text.starts_with("s_nop"));
}

std::string key_of(const recover::Item& item) {
  if (item.kind == recover::ItemKind::label) return ":";
  const size_t at = item.target.empty() ? item.text.npos : item.text.find(item.target);
  if (at == item.text.npos) return item.text;
  return fmt::format("{}@{}", item.text.substr(0, at), item.text.substr(at + item.target.size()));
}

std::vector<Change> changes_of(const std::vector<std::optional<size_t>>& to, size_t size) {
  std::vector<Change> changes;
  size_t a = 0, b = 0;
  const auto until = [&](size_t a_end, size_t b_end) {
    if (a < a_end || b < b_end) changes.push_back({{a, b}, {a_end, b_end}});
    a = a_end + 1;
    b = b_end + 1;
  };
  for (size_t i = 0; i < to.size(); ++i)
    if (to[i]) until(i, *to[i]);
  until(to.size(), size);
  return changes;
}

} // namespace

std::vector<Line> lines_of(const recover::Program& program, const recover::Function& function) {
  std::vector<Line> lines;
  for (size_t i = function.first; i < function.last; ++i)
    if (!is_filler(program.items[i])) lines.push_back({i, key_of(program.items[i])});
  return lines;
}

std::optional<Alignment> align(const std::vector<Line>& a, const std::vector<Line>& b) {
  Alignment alignment;
  alignment.to.resize(a.size());
  const auto same = [&](size_t i, size_t j) { return a[i].key == b[j].key; };
  size_t head = 0, tail = 0;
  const size_t shorter = std::min(a.size(), b.size());
  for (; head < shorter && same(head, head); ++head) alignment.to[head] = head;
  for (; tail < shorter - head && same(a.size() - 1 - tail, b.size() - 1 - tail); ++tail)
    alignment.to[a.size() - 1 - tail] = b.size() - 1 - tail;
  const size_t rows = a.size() - head - tail, columns = b.size() - head - tail, width = columns + 1;
  if ((rows + 1) * width > largest_table) return std::nullopt;
  std::vector<uint32_t> common((rows + 1) * width); // of what follows
  for (size_t i = rows; i-- > 0;)
    for (size_t j = columns; j-- > 0;)
      common[i * width + j] = same(head + i, head + j)
                                  ? common[(i + 1) * width + j + 1] + 1
                                  : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
  for (size_t i = 0, j = 0; i < rows && j < columns;) {
    if (same(head + i, head + j)) {
      alignment.to[head + i] = head + j;
      ++i, ++j;
    } else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  alignment.changes = changes_of(alignment.to, b.size());
  return alignment;
}

} // namespace asmevo::search
