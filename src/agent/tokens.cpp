#include "agent/tokens.h"

#include <cstdint>

namespace asmevo::agent {
namespace {

enum class Kind : uint8_t { letter, digit, space, sign };

Kind kind_of(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return Kind::letter;
  if (c >= '0' && c <= '9') return Kind::digit;
  return c == ' ' ? Kind::space : Kind::sign;
}

/// The longest piece of one kind that is one token. A run of spaces is one, whatever its length.
constexpr size_t longest_piece(Kind kind) {
  switch (kind) {
  case Kind::letter:
    return 8;
  case Kind::digit:
    return 3;
  case Kind::space:
    return size_t{1} << 20;
  case Kind::sign:
    return 1;
  }
  return 1;
}

} // namespace

size_t estimated_tokens(std::string_view text) {
  size_t tokens = 0;
  for (size_t at = 0; at < text.size();) {
    const Kind kind = kind_of(text[at]);
    size_t end = at;
    while (end < text.size() && kind_of(text[end]) == kind && end - at < longest_piece(kind)) ++end;
    // One space is part of the word or sign behind it.
    tokens += kind != Kind::space || end - at > 1;
    at = end;
  }
  return tokens;
}

} // namespace asmevo::agent
