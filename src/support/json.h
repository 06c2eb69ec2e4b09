// JSON that remembers where it was written.
//
// People write launch files by hand, and a message without a line number makes them search. So a document keeps, beside
// the values, the line and column at which each value begins, and a View walks value and place together: whatever a
// schema check finds wrong, it can say where.
#pragma once

#include "support/result.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace asmevo {

struct TextPosition {
  uint32_t line = 1;   // 1-based
  uint32_t column = 1; // 1-based, in bytes
};

struct JsonDocument {
  std::string path; // what messages begin with
  nlohmann::json root;
  std::unordered_map<std::string, TextPosition> positions; // by JSON pointer: where the value begins
  std::unordered_map<std::string, TextPosition> keys;      // likewise, where the member's key begins
};

/// Errors: "path:line:column: what"; a key that an object has twice; nesting deeper than 64.
Result<std::shared_ptr<const JsonDocument>> parse_json(std::string_view text, const std::string& path);
Result<std::shared_ptr<const JsonDocument>> read_json(const std::string& path);

/// One line, or indented and with a final newline. Bytes that are not UTF-8 become U+FFFD.
std::string write_json(const nlohmann::json& json);
std::string write_json_indented(const nlohmann::json& json);

/// One value of a document. Cheap to copy; keeps the document alive.
class JsonView {
public:
  JsonView() = default;
  explicit JsonView(std::shared_ptr<const JsonDocument> document);

  explicit operator bool() const { return value_ != nullptr; }
  const nlohmann::json& json() const { return *value_; }
  bool is_object() const { return value_->is_object(); }
  bool is_array() const { return value_->is_array(); }
  bool is_string() const { return value_->is_string(); }
  bool is_number() const { return value_->is_number(); }
  bool has(std::string_view key) const { return value_->is_object() && value_->contains(key); }
  size_t size() const { return value_->size(); }

  JsonView at(std::string_view key) const; // must be there: has(key)
  JsonView at(size_t index) const;         // must be there: index < size()
  /// Members in the order of the file's keys, sorted (JSON objects have no order).
  std::vector<std::string> member_names() const;

  std::string where() const;                         // "launch.json:14:21"
  std::string where_key(std::string_view key) const; // where the key of a member stands
  template <class... Args> std::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) const {
    return std::unexpected(Error{where() + ": " + fmt::format(format, std::forward<Args>(args)...)});
  }

  /// Errors name `what`, what was found and the place: `launch.json:3:9: "seed" must be a whole number, not "x"`.
  Result<std::string> string(std::string_view what) const;
  Result<double> number(std::string_view what) const;
  Result<int64_t> integer(std::string_view what) const;
  Result<uint64_t> unsigned_integer(std::string_view what) const;
  Result<bool> boolean(std::string_view what) const;
  Result<void> expect_object(std::string_view what) const;
  Result<void> expect_array(std::string_view what) const;
  /// An object with no key but these; the message suggests the nearest one.
  Result<void> expect_keys(std::string_view what, std::span<const std::string_view> known) const;
  Result<void> expect_keys(std::string_view what, std::initializer_list<std::string_view> known) const {
    return expect_keys(what, std::span(known.begin(), known.size()));
  }

private:
  std::shared_ptr<const JsonDocument> document_;
  const nlohmann::json* value_ = nullptr;
  std::string pointer_;
};

/// The word of `known` that a misspelt `word` most likely means, or empty when none is near.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

/// `, did you mean "nearest"?`, or `; known are a, b, c` when nothing is near.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

} // namespace asmevo
