#include "gate/duplicates.h"

#include <algorithm>
#include <vector>

namespace asmevo::gate {
namespace {

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

/// Without comments, with single spaces, without space around commas.
std::string tidy(std::string_view line) {
  line = line.substr(0, std::min(line.find(';'), line.find("//")));
  std::string out;
  bool gap = false;
  for (char c : line) {
    if (c == ' ' || c == '\t' || c == '\r') {
      gap = true;
      continue;
    }
    if (gap && !out.empty() && c != ',' && out.back() != ',') out += ' ';
    gap = false;
    out += c;
  }
  return out;
}

void append_lines(std::vector<std::string>& lines, std::string_view text) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string line = tidy(text.substr(0, end));
    if (!line.empty()) lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool is_label(std::string_view line) {
  return line.size() > 1 && line.back() == ':' && std::ranges::all_of(line.substr(0, line.size() - 1), in_name);
}

std::string rename_labels(const std::vector<std::string>& lines) {
  std::unordered_map<std::string_view, size_t> labels;
  for (const std::string& line : lines)
    if (is_label(line)) labels.emplace(std::string_view(line).substr(0, line.size() - 1), labels.size());
  std::string out;
  for (std::string_view line : lines) {
    while (!line.empty()) {
      auto name_end = std::ranges::find_if_not(line, in_name);
      std::string_view name(line.begin(), name_end);
      if (auto label = labels.find(name); label != labels.end())
        out += fmt::format("L{}", label->second);
      else
        out += name;
      line.remove_prefix(name.size());
      if (!line.empty()) {
        out += line.front();
        line.remove_prefix(1);
      }
    }
    out += '\n';
  }
  return out;
}

std::optional<int64_t> find(const std::unordered_map<std::string, int64_t>& numbers, const std::string& hash) {
  const auto found = numbers.find(hash);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

void append_item(std::vector<std::string>& lines, const recover::Item& item) {
  std::string text = item.text;
  if (item.kind == recover::ItemKind::label && !text.ends_with(':')) text += ':';
  append_lines(lines, text);
}

} // namespace

void Known::add(const std::string& text, const std::string& artifact, int64_t number) {
  const std::scoped_lock lock(mutex_);
  if (!text.empty()) texts_.emplace(text, number);
  if (!artifact.empty()) artifacts_.emplace(artifact, number);
}

std::optional<int64_t> Known::text(const std::string& hash) const {
  const std::scoped_lock lock(mutex_);
  return find(texts_, hash);
}

std::optional<int64_t> Known::artifact(const std::string& hash) const {
  const std::scoped_lock lock(mutex_);
  return find(artifacts_, hash);
}

std::string normalised_text(const recover::Program& program, std::span<const recover::Edit> edits) {
  std::vector<std::string> lines;
  size_t at = 0;
  for (const recover::Edit& edit : edits) {
    for (; at < std::min(edit.first, program.items.size()); ++at) append_item(lines, program.items[at]);
    append_lines(lines, edit.text);
    at = std::max(at, edit.last);
  }
  for (; at < program.items.size(); ++at) append_item(lines, program.items[at]);
  return rename_labels(lines);
}

std::string normalised_text(std::string_view listing) {
  std::vector<std::string> lines;
  append_lines(lines, listing);
  return rename_labels(lines);
}

} // namespace asmevo::gate
