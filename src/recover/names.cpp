#include "recover/names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace asmevo::recover {

bool is_plain_name(std::string_view name) {
  if (name.empty() || std::isdigit(uint8_t(name[0]))) return false;
  return std::ranges::all_of(name, [](char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '.' || c == '$'; });
}

bool is_operand_name(std::string_view name) {
  if (name.starts_with(".L_")) return is_plain_name(name);
  static constexpr std::array<std::string_view, 10> special = {"exec", "vcc",  "flat_", "xnack_", "src_",
                                                               "ttmp", "tba_", "tma_",  "lds_",   "pops_"};
  if (!is_plain_name(name) || name.find('_') == std::string_view::npos) return false;
  return std::ranges::none_of(special, [&](std::string_view s) { return name.starts_with(s); });
}

std::string as_written(std::string_view name) {
  if (is_plain_name(name)) return std::string(name);
  bool quotable = !name.empty() && std::ranges::all_of(name, [](char c) {
    return uint8_t(c) >= ' ' && c != '"' && c != '\\' && c != 0x7f;
  });
  return quotable ? '"' + std::string(name) + '"' : std::string();
}

} // namespace asmevo::recover
