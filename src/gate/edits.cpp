#include "gate/edits.h"

#include <algorithm>
#include <array>

namespace asmevo::gate {
namespace {

constexpr std::array<std::string_view, 6> allowed_directives = {".long", ".byte",    ".short",
                                                                ".quad", ".p2align", ".align"};

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Local labels begin with ".L"; everything else that begins with a dot and a letter is a directive, wherever it
/// stands: behind a label, a block comment or a statement separator.
bool is_forbidden(std::string_view word) {
  if (word.size() < 2 || word[0] != '.' || !is_letter(word[1])) return false;
  return !word.starts_with(".L") && std::ranges::find(allowed_directives, word) == allowed_directives.end();
}

std::optional<std::string> fault_of_text(std::string_view text) {
  size_t line = 1;
  for (size_t at = 0; at < text.size();) {
    auto byte = uint8_t(text[at]);
    if (byte == '\n') ++line;
    if ((byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r') || byte == 0x7f)
      return fmt::format("line {}: control character 0x{:02x}", line, byte);
    if (!in_name(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && in_name(text[end])) ++end;
    std::string_view word = text.substr(at, end - at);
    if (is_forbidden(word))
      return fmt::format("line {}: directive {} is not allowed in an edit", line, word.substr(0, 64));
    at = end;
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> fault_of_edits(const recover::Function& function, std::span<const recover::Edit> edits) {
  size_t end = function.first, bytes = 0;
  for (size_t i = 0; i < edits.size(); ++i) {
    const recover::Edit& edit = edits[i];
    if (edit.first > edit.last || edit.first < function.first || edit.last > function.last)
      return fmt::format("edit {}: items [{}, {}) are not inside kernel \"{}\", which is [{}, {})", i, edit.first,
                         edit.last, function.name, function.first, function.last);
    if (edit.first < end)
      return fmt::format("edit {}: begins at item {}, before the end of the edit before it", i, edit.first);
    end = edit.last;
    bytes += edit.text.size();
    if (bytes > edit_text_limit) return fmt::format("edit {}: more than {} bytes of text", i, edit_text_limit);
    if (auto fault = fault_of_text(edit.text)) return fmt::format("edit {}: {}", i, *fault);
  }
  return std::nullopt;
}

} // namespace asmevo::gate
