#include "agent/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>

extern char** environ;

namespace asmevo::agent {
namespace {

constexpr size_t shortest_secret = 8;
constexpr std::string_view removed = "[removed]";
constexpr std::array<std::string_view, 6> telling_names = {"KEY",      "TOKEN",  "SECRET",
                                                           "PASSWORD", "PASSWD", "CREDENTIAL"};

/// What keys of the services in question begin with, and how long the rest is at least.
struct Form {
  std::string_view begins;
  size_t least;
};
constexpr Form forms[] = {{"sk-", 12}, {"Bearer ", 8}, {"bearer ", 8}, {"ghp_", 16},
                          {"hf_", 16}, {"AIza", 20},   {"xai-", 16}};

bool in_key(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' || c == '+' || c == '/' ||
         c == '=';
}

std::string without(std::string_view text, std::string_view value) {
  std::string out;
  for (size_t at = 0;;) {
    const size_t found = text.find(value, at);
    out += text.substr(at, found - at);
    if (found == std::string_view::npos) return out;
    out += removed;
    at = found + value.size();
  }
}

std::string without(std::string_view text, const Form& form) {
  std::string out;
  for (size_t at = 0;;) {
    const size_t found = text.find(form.begins, at);
    out += text.substr(at, found - at);
    if (found == std::string_view::npos) return out;
    size_t end = found + form.begins.size();
    while (end < text.size() && in_key(text[end])) ++end;
    const bool inside_a_word = found > 0 && std::isalnum(static_cast<unsigned char>(text[found - 1])) != 0;
    const bool key = !inside_a_word && end - found >= form.begins.size() + form.least;
    out += key ? removed : text.substr(found, end - found);
    at = end;
  }
}

} // namespace

Secrets Secrets::of_environment() {
  Secrets secrets;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view variable = *entry;
    const size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    std::string name(variable.substr(0, equals));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return char(std::toupper(c)); });
    if (std::ranges::any_of(telling_names, [&](std::string_view part) { return name.find(part) != std::string::npos; }))
      secrets.add(variable.substr(equals + 1));
  }
  return secrets;
}

void Secrets::add(std::string_view value) {
  if (value.size() < shortest_secret || std::ranges::find(values_, value) != values_.end()) return;
  values_.emplace_back(value);
  std::ranges::stable_sort(values_, std::greater(), &std::string::size);
}

std::string Secrets::removed_from(std::string_view text) const {
  std::string out(text);
  for (const std::string& value : values_)
    if (out.find(value) != std::string::npos) out = without(out, value);
  for (const Form& form : forms)
    if (out.find(form.begins) != std::string::npos) out = without(out, form);
  return out;
}

} // namespace asmevo::agent
