// Answers that fit: pages of lists, and texts with an end.
//
// A kernel has ten thousand instructions and a symbol may have a megabyte of name; a model pays for each byte it is
// shown. So a list comes in pages, which end when their rows or their bytes run out, and every text has a longest
// length.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace asmevo::agent {

inline constexpr size_t largest_page = size_t{32} << 10; // bytes of JSON, of one list
inline constexpr size_t longest_name = 200, longest_text = 1000;

/// `text`, or its beginning and how much was left out; what is not UTF-8 is replaced and control characters are
/// escaped.
std::string bounded(std::string_view text, size_t longest = longest_text);

/// Which rows were asked for: "offset" and "limit" of the arguments.
struct PageRequest {
  size_t offset = 0, limit = 0;
};
PageRequest page_of(const nlohmann::json& arguments, size_t default_limit);

/// Puts rows [offset, ...) of `total` into document[key], with "total" and "next_offset" (null behind the last row).
template <class Row>
void put_page(nlohmann::json& document, const char* key, PageRequest page, size_t total, Row&& row) {
  nlohmann::json rows = nlohmann::json::array();
  size_t at = std::min(page.offset, total), bytes = 0;
  for (; at < total && rows.size() < page.limit && (rows.empty() || bytes < largest_page); ++at) {
    rows.push_back(row(at));
    bytes += rows.back().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).size();
  }
  document[key] = std::move(rows);
  document["total"] = total;
  document["next_offset"] = at < total ? nlohmann::json(at) : nlohmann::json(nullptr);
}

} // namespace asmevo::agent
