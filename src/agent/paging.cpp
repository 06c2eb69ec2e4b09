#include "agent/paging.h"

#include <fmt/format.h>

namespace asmevo::agent {

std::string bounded(std::string_view text, size_t longest) {
  std::string_view kept = text.substr(0, longest);
  while (kept.size() < text.size() && !kept.empty() && (uint8_t(text[kept.size()]) & 0xc0) == 0x80)
    kept.remove_suffix(1);
  std::string out;
  for (const char c : kept) {
    if ((uint8_t(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
      out += fmt::format("\\x{:02x}", uint8_t(c));
    else
      out += c;
  }
  if (kept.size() < text.size()) out += fmt::format("... ({} bytes more)", text.size() - kept.size());
  // Bytes that are not UTF-8 become U+FFFD on the way through a JSON string.
  const std::string quoted = nlohmann::json(out).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(quoted).get<std::string>();
}

PageRequest page_of(const nlohmann::json& arguments, size_t default_limit) {
  return {arguments.value("offset", size_t{0}), arguments.value("limit", default_limit)};
}

} // namespace asmevo::agent
