#include "recover/metadata_text.h"

#include "object/msgpack.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/BinaryFormat/AMDGPUMetadataVerifier.h>
#include <llvm/BinaryFormat/MsgPackDocument.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/YAMLParser.h>
#include <set>

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

// --- Text that somebody else wrote -----------------------------------------------------------------------------------

constexpr size_t most_brackets = 2000, deepest_indent = 200; // LLVM's reader recurses

struct Complaint {
  int line = 1, column = 1;
  std::string message;
};

class Reader {
public:
  explicit Reader(std::string_view text) : stream_(llvm::StringRef(text.data(), text.size()), sources_, false) {
    sources_.setDiagHandler(note, &complaint_);
  }

  std::optional<Complaint> read() {
    size_t documents = 0;
    for (llvm::yaml::Document& document : stream_) {
      if (++documents > 1) return Complaint{1, 1, "more than one document"};
      node(document.getRoot());
      if (complaint_) return complaint_;
    }
    if (stream_.failed() && !complaint_) complaint_ = Complaint{1, 1, "not YAML"};
    return complaint_;
  }

private:
  static void note(const llvm::SMDiagnostic& d, void* into) {
    auto& complaint = *static_cast<std::optional<Complaint>*>(into);
    if (!complaint) complaint = Complaint{d.getLineNo(), d.getColumnNo() + 1, d.getMessage().str()};
  }

  void complain(const llvm::yaml::Node& at, std::string message) {
    if (complaint_) return;
    auto [line, column] = sources_.getLineAndColumn(at.getSourceRange().Start);
    complaint_ = Complaint{int(line), int(column), std::move(message)};
  }

  void node(llvm::yaml::Node* n) {
    if (!n || complaint_) return;
    if (auto* map = llvm::dyn_cast<llvm::yaml::MappingNode>(n)) return members(*map);
    if (auto* list = llvm::dyn_cast<llvm::yaml::SequenceNode>(n)) {
      for (llvm::yaml::Node& item : *list) node(&item);
      return;
    }
    if (llvm::isa<llvm::yaml::AliasNode>(n)) return complain(*n, "aliases are not used in metadata");
    std::string tag = n->getRawTag().str();
    if (!tag.empty() && tag != "!str" && tag != "!nil") complain(*n, "tag " + tag + " is not used in metadata");
  }

  void members(llvm::yaml::MappingNode& map) {
    std::set<std::string> keys;
    for (llvm::yaml::KeyValueNode& member : map) {
      auto* key = llvm::dyn_cast_or_null<llvm::yaml::ScalarNode>(member.getKey());
      if (!key) return complain(map, "a key is not a name");
      llvm::SmallString<64> storage;
      if (!keys.insert(key->getValue(storage).str()).second) return complain(*key, "a key is there twice");
      node(key);
      node(member.getValue());
      if (complaint_) return;
    }
  }

  std::optional<Complaint> complaint_;
  llvm::SourceMgr sources_;
  llvm::yaml::Stream stream_;
};

bool too_deep(std::string_view text) {
  size_t brackets = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.find_first_not_of(" -?") != std::string_view::npos && line.find_first_not_of(" -?") > deepest_indent)
      return true;
    brackets += size_t(std::ranges::count(line, '[') + std::ranges::count(line, '{'));
    begin = end + 1;
  }
  return brackets > most_brackets;
}

} // namespace

std::optional<isa::AssemblyError> metadata_fault(const std::string& listing) {
  constexpr std::string_view begin_mark = ".amdgpu_metadata", end_mark = ".end_amdgpu_metadata";
  for (size_t at = listing.find(begin_mark); at != std::string::npos; at = listing.find(begin_mark, at)) {
    size_t begin = std::min(listing.find('\n', at), listing.size());
    size_t end = std::min(listing.find(end_mark, begin), listing.size());
    std::string_view text = std::string_view(listing).substr(begin, end - begin);
    int line = 1 + int(std::ranges::count(std::string_view(listing).substr(0, begin), '\n'));
    at = std::min(end + end_mark.size(), listing.size());
    if (too_deep(text)) return isa::AssemblyError{line, 1, "metadata is nested too deeply"};
    if (auto complaint = Reader(text).read())
      return isa::AssemblyError{line + std::max(complaint->line, 1) - 1, std::max(complaint->column, 1),
                                "metadata: " + complaint->message};
  }
  return std::nullopt;
}

std::optional<std::string> metadata_text(std::span<const uint8_t> note) {
  auto document = object::msgpack::parse(note);
  if (!document || document->kind != Kind::map || document->items.empty() || !carries(*document)) return std::nullopt;
  std::string text = Writer().document(*document);
  if (!gives_back(text, note)) return std::nullopt;
  return text;
}

} // namespace asmevo::recover
