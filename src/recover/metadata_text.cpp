#include "recover/metadata_text.h"

#include "object/msgpack.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <llvm/BinaryFormat/AMDGPUMetadataVerifier.h>
#include <llvm/BinaryFormat/MsgPackDocument.h>

namespace asmevo::recover {

namespace {

using object::msgpack::Kind;
using object::msgpack::Value;

bool carries(const Value& value) {
  if (value.kind == Kind::real || value.kind == Kind::binary) return false;
  if (value.kind == Kind::string)
    return std::ranges::all_of(value.text, [](char c) { return uint8_t(c) >= ' ' && uint8_t(c) < 0x7f; }) &&
           value.text.find("amdgpu_metadata") == std::string::npos;
  return std::ranges::all_of(value.items, carries);
}

// Names and symbols need no quotes; what could be read as a number or a keyword gets them, and a tag.
std::string scalar(const std::string& text) {
  static constexpr std::string_view keywords[] = {"true", "false", "null", "nan", "inf", "infinity"};
  std::string lower;
  for (char c : text) lower += char(std::tolower(uint8_t(c)));
  bool word = !text.empty() && (std::isalpha(uint8_t(text[0])) || text[0] == '_' ||
                                (text[0] == '.' && text.size() > 1 && std::isalpha(uint8_t(text[1]))));
  bool plain =
      std::ranges::all_of(text, [](char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '.' || c == '-'; });
  if (word && plain && std::ranges::find(keywords, lower) == std::end(keywords)) return text;
  std::string quoted = "!str '";
  for (char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

class Writer {
public:
  std::string document(const Value& map) {
    text_ = "---\n";
    members(map, 0);
    return text_ + "...\n";
  }

private:
  void indent(int depth) { text_.append(size_t(depth) * 2, ' '); }

  void members(const Value& map, int depth, bool first_indented = true) {
    for (size_t i = 0; i + 1 < map.items.size(); i += 2) {
      if (i || first_indented) indent(depth);
      text_ += scalar(map.items[i].text) + ":";
      value(map.items[i + 1], depth);
    }
  }

  void value(const Value& v, int depth) {
    if (v.kind == Kind::array && !v.items.empty()) {
      text_ += '\n';
      for (const Value& item : v.items) element(item, depth + 1);
    } else if (v.kind == Kind::map && !v.items.empty()) {
      text_ += '\n';
      members(v, depth + 1);
    } else {
      text_ += ' ' + leaf(v) + '\n';
    }
  }

  void element(const Value& v, int depth) {
    indent(depth);
    text_ += '-';
    if (v.kind == Kind::map && !v.items.empty()) {
      text_ += ' ';
      members(v, depth + 1, false);
    } else {
      value(v, depth);
    }
  }

  static std::string leaf(const Value& v) {
    switch (v.kind) {
    case Kind::boolean:
      return v.integer ? "true" : "false";
    case Kind::integer:
      return fmt::format("{}", v.integer);
    case Kind::unsigned_integer:
      return fmt::format("{}", v.number);
    case Kind::string:
      return scalar(v.text);
    case Kind::array:
      return "[]";
    case Kind::map:
      return "{}";
    default:
      return "!nil ''";
    }
  }

  std::string text_;
};

// What the assembler does with the text.
bool gives_back(const std::string& text, std::span<const uint8_t> note) {
  llvm::msgpack::Document document;
  if (!document.fromYAML(text)) return false;
  if (!llvm::AMDGPU::HSAMD::V3::MetadataVerifier(false).verify(document.getRoot())) return false;
  std::string blob;
  document.writeToBlob(blob);
  return std::ranges::equal(blob, note, [](char a, uint8_t b) { return uint8_t(a) == b; });
}

} // namespace

std::optional<std::string> metadata_text(std::span<const uint8_t> note) {
  auto document = object::msgpack::parse(note);
  if (!document || document->kind != Kind::map || document->items.empty() || !carries(*document)) return std::nullopt;
  std::string text = Writer().document(*document);
  if (!gives_back(text, note)) return std::nullopt;
  return text;
}

} // namespace asmevo::recover
