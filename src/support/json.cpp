// nlohmann::json reports its events in the order of the text but not their places. Between two events there is nothing
// but white space, commas and colons, and a token that was accepted is easily measured again. So a Scanner walks the
// text in step with the events and knows where each value begins.
#include "support/json.h"

#include "support/file.h"

#include <algorithm>
#include <cmath>

namespace asmevo {

namespace {

constexpr size_t deepest_nesting = 64;

class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  /// Where the next token begins; moves behind it.
  TextPosition next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n,:").contains(text_[at_])) step();
    TextPosition start = position_;
    if (at_ >= text_.size()) return start;
    if (text_[at_] == '"') {
      for (step(); at_ < text_.size() && text_[at_] != '"'; step())
        if (text_[at_] == '\\') step();
      step();
    } else if (std::string_view("[]{}").contains(text_[at_])) {
      step();
    } else {
      while (at_ < text_.size() && !std::string_view(" \t\r\n,:[]{}\"").contains(text_[at_])) step();
    }
    return start;
  }

private:
  void step() {
    if (at_ >= text_.size()) return;
    if (text_[at_++] == '\n') {
      ++position_.line;
      position_.column = 1;
    } else {
      ++position_.column;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  TextPosition position_;
};

TextPosition position_of(std::string_view text, size_t offset) {
  TextPosition position;
  for (size_t i = 0; i < std::min(offset, text.size()); ++i) {
    ++position.column;
    if (text[i] == '\n') position = {position.line + 1, 1};
  }
  return position;
}

std::string escaped(std::string_view key) {
  std::string out;
  for (char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

/// Builds the document from the parser's events. The member functions have the names and types nlohmann::json asks for.
class Builder {
public:
  using json = nlohmann::json;

  Builder(std::string_view text, JsonDocument& document) : text_(text), scanner_(text), document_(document) {}

  std::string error;

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(json::number_integer_t value) { return put(value); }
  bool number_unsigned(json::number_unsigned_t value) { return put(value); }
  bool number_float(json::number_float_t value, const json::string_t&) { return put(value); }
  bool string(json::string_t& value) { return put(std::move(value)); }
  bool binary(json::binary_t&) { return false; } // not in JSON text
  bool start_object(size_t) { return open(json::object()); }
  bool start_array(size_t) { return open(json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(json::string_t& name) {
    key_position_ = scanner_.next();
    key_ = name;
    if (stack_.back().value->contains(name)) {
      error = message(key_position_, fmt::format("key \"{}\" appears twice in this object", name));
      return false;
    }
    return true;
  }

  bool parse_error(size_t position, const std::string&, const json::exception& exception) {
    std::string_view what = exception.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing value - ..."
    if (size_t colon = what.find(": "); colon != what.npos) what.remove_prefix(colon + 2);
    error = message(position_of(text_, position ? position - 1 : 0), what);
    return false;
  }

private:
  struct Level {
    json* value;
    std::string pointer;
  };

  std::string message(TextPosition position, std::string_view what) const {
    return fmt::format("{}:{}:{}: {}", document_.path, position.line, position.column, what);
  }

  json* place(json&& value, TextPosition position, std::string& pointer) {
    if (stack_.empty()) {
      document_.root = std::move(value);
      document_.positions[pointer] = position;
      return &document_.root;
    }
    Level& parent = stack_.back();
    json* placed;
    if (parent.value->is_array()) {
      pointer = fmt::format("{}/{}", parent.pointer, parent.value->size());
      parent.value->push_back(std::move(value));
      placed = &parent.value->back();
    } else {
      pointer = parent.pointer + "/" + escaped(key_);
      placed = &(*parent.value)[key_];
      *placed = std::move(value);
      document_.keys[pointer] = key_position_;
    }
    document_.positions[pointer] = position;
    return placed;
  }

  bool put(json&& value) {
    std::string pointer;
    place(std::move(value), scanner_.next(), pointer);
    return true;
  }

  // A parent never grows while a child is open, so the pointers in stack_ stay valid.
  bool open(json&& value) {
    TextPosition position = scanner_.next();
    if (stack_.size() >= deepest_nesting) {
      error = message(position, fmt::format("nested deeper than {} levels", deepest_nesting));
      return false;
    }
    std::string pointer;
    json* placed = place(std::move(value), position, pointer);
    stack_.push_back({placed, std::move(pointer)});
    return true;
  }

  bool close() {
    scanner_.next();
    stack_.pop_back();
    return true;
  }

  std::string_view text_;
  Scanner scanner_;
  JsonDocument& document_;
  std::vector<Level> stack_;
  std::string key_;
  TextPosition key_position_;
};

std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j)
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])}));
  }
  return row[b.size()];
}

} // namespace

Result<std::shared_ptr<const JsonDocument>> parse_json(std::string_view text, const std::string& path) {
  auto document = std::make_shared<JsonDocument>();
  document->path = path;
  Builder builder(text, *document);
  if (!nlohmann::json::sax_parse(text, &builder)) return std::unexpected(Error{builder.error});
  return document;
}

Result<std::shared_ptr<const JsonDocument>> read_json(const std::string& path) {
  AE_TRY(std::string text, read_text_file(path, uint64_t{64} << 20));
  return parse_json(text, path);
}

JsonView::JsonView(std::shared_ptr<const JsonDocument> document)
    : document_(std::move(document)), value_(&document_->root) {}

JsonView JsonView::at(std::string_view key) const {
  JsonView child = *this;
  child.value_ = &value_->at(std::string(key));
  child.pointer_ += "/" + escaped(key);
  return child;
}

JsonView JsonView::at(size_t index) const {
  JsonView child = *this;
  child.value_ = &value_->at(index);
  child.pointer_ += fmt::format("/{}", index);
  return child;
}

std::vector<std::string> JsonView::member_names() const {
  std::vector<std::string> names;
  for (auto& [name, value] : value_->items()) names.push_back(name);
  return names;
}

std::string JsonView::where() const {
  auto found = document_->positions.find(pointer_);
  TextPosition position = found == document_->positions.end() ? TextPosition{} : found->second;
  return fmt::format("{}:{}:{}", document_->path, position.line, position.column);
}

std::string JsonView::where_key(std::string_view key) const {
  auto found = document_->keys.find(pointer_ + "/" + escaped(key));
  if (found == document_->keys.end()) return where();
  return fmt::format("{}:{}:{}", document_->path, found->second.line, found->second.column);
}

Result<std::string> JsonView::string(std::string_view what) const {
  if (!value_->is_string()) return fail("{} must be a string, not {}", what, shown(*value_));
  return value_->get<std::string>();
}

Result<double> JsonView::number(std::string_view what) const {
  if (!value_->is_number()) return fail("{} must be a number, not {}", what, shown(*value_));
  return value_->get<double>();
}

Result<int64_t> JsonView::integer(std::string_view what) const {
  bool fits =
      value_->is_number_unsigned() ? value_->get<uint64_t>() <= uint64_t(INT64_MAX) : value_->is_number_integer();
  if (!fits) return fail("{} must be a whole number, not {}", what, shown(*value_));
  return value_->get<int64_t>();
}

Result<uint64_t> JsonView::unsigned_integer(std::string_view what) const {
  if (!value_->is_number_unsigned()) return fail("{} must be a whole number, 0 or more, not {}", what, shown(*value_));
  return value_->get<uint64_t>();
}

Result<bool> JsonView::boolean(std::string_view what) const {
  if (!value_->is_boolean()) return fail("{} must be true or false, not {}", what, shown(*value_));
  return value_->get<bool>();
}

Result<void> JsonView::expect_object(std::string_view what) const {
  if (!value_->is_object()) return fail("{} must be an object, not {}", what, shown(*value_));
  return {};
}

Result<void> JsonView::expect_array(std::string_view what) const {
  if (!value_->is_array()) return fail("{} must be a list, not {}", what, shown(*value_));
  return {};
}

Result<void> JsonView::expect_keys(std::string_view what, std::span<const std::string_view> known) const {
  AE_CHECK(expect_object(what));
  for (const auto& [name, value] : value_->items())
    if (std::ranges::find(known, name) == known.end())
      return asmevo::fail("{}: {} has no key \"{}\"{}", where_key(name), what, name, suggestion(name, known));
  return {};
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (std::string_view candidate : known)
    if (candidate.size() > 2 && word.starts_with(candidate)) {
      best = candidate;
      best_distance = 1;
    } else if (size_t distance = edit_distance(word, candidate); distance < std::min(best_distance, candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  if (std::string_view nearest = nearest_word(word.substr(0, 64), known); !nearest.empty())
    return fmt::format(", did you mean \"{}\"?", nearest);
  std::string list;
  for (std::string_view name : known) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  return list.empty() ? "" : "; known are " + list;
}

std::string write_json(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string write_json_indented(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace asmevo
