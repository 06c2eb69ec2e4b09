#include "recover/edit_text.h"

#include "recover/names.h"

#include <algorithm>
#include <set>

namespace asmevo::recover {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view placeholder = "0x7f345678"; // no inline constant, so it takes a literal

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool is_name(char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '.' || c == '$'; }

// Blanks out comments and keeps the columns. `inside` carries /* */ over lines.
std::string without_comments(std::string_view line, bool& inside) {
  std::string out(line);
  for (size_t i = 0; i < out.size(); i++) {
    if (inside) {
      if (line.substr(i, 2) == "*/") inside = false, out[i++] = ' ';
      out[i] = ' ';
    } else if (line[i] == ';' || line.substr(i, 2) == "//") {
      out.resize(i);
    } else if (line.substr(i, 2) == "/*") {
      inside = true;
      out[i++] = ' ';
      out[i] = ' ';
    }
  }
  return out;
}

struct Line {
  int number;
  std::string text; // without comments
};

std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  bool inside = false;
  int number = 1;
  for (size_t begin = 0; begin <= text.size(); number++) {
    size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back({number, without_comments(std::string_view(text).substr(begin, end - begin), inside)});
    begin = end + 1;
  }
  return lines;
}

// "name:" at the start of `rest` (which is trimmed): its name, and `rest` moves behind it.
std::optional<std::string> take_label(std::string_view& rest) {
  size_t end = 0;
  while (end < rest.size() && is_name(rest[end])) end++;
  size_t colon = rest.find_first_not_of(blanks, end);
  if (end == 0 || colon == std::string_view::npos || rest[colon] != ':') return std::nullopt;
  std::string name(rest.substr(0, end));
  rest = trimmed(rest.substr(colon + 1));
  return name;
}

struct DataDirective {
  std::string_view name;
  uint32_t size;
};

constexpr DataDirective data_directives[] = {{".long", 4},  {".4byte", 4}, {".int", 4},  {".word", 4}, {".short", 2},
                                             {".2byte", 2}, {".byte", 1},  {".quad", 8}, {".8byte", 8}};

std::string_view first_word(std::string_view text) { return text.substr(0, text.find_first_of(blanks)); }

// Names in `operand` that are labels, in order.
std::vector<std::string> labels_in(std::string_view operand, const std::function<bool(std::string_view)>& is_label) {
  std::vector<std::string> found;
  for (size_t i = 0; i < operand.size();) {
    if (!is_name(operand[i])) {
      i++;
      continue;
    }
    size_t end = i;
    while (end < operand.size() && is_name(operand[end])) end++;
    std::string_view word = operand.substr(i, end - i);
    if (!std::isdigit(uint8_t(word[0])) && is_label(word)) found.emplace_back(word);
    i = end;
  }
  return found;
}

bool is_branch(std::string_view mnemonic) {
  return mnemonic == "s_branch" || mnemonic.starts_with("s_cbranch_") || mnemonic == "s_call_b64";
}

std::vector<std::pair<size_t, size_t>> operands_of(std::string_view text) {
  std::vector<std::pair<size_t, size_t>> operands; // begin, end
  size_t begin = std::min(text.find_first_of(blanks), text.size());
  while (begin < text.size()) {
    size_t end = std::min(text.find(',', begin), text.size());
    operands.emplace_back(begin, end);
    begin = end + 1;
  }
  return operands;
}

class Taker {
public:
  Taker(const std::function<bool(std::string_view)>& is_label) : is_label_(is_label) {}

  std::expected<EditText, isa::AssemblyError> take(const std::string& text) {
    for (const Line& line : lines_of(text))
      if (auto error = take_line(line)) return std::unexpected(*error);
    for (const std::string& label : outer_)
      if (!inner_.contains(label)) out_.assembly += label + ":\n";
    return std::move(out_);
  }

private:
  std::optional<isa::AssemblyError> take_line(const Line& line) {
    std::string_view rest = trimmed(line.text);
    std::string kept;
    while (auto label = take_label(rest)) {
      kept += *label + ":";
      inner_.insert(*label);
      out_.statements.push_back({.kind = StatementKind::label, .line = line.number, .text = *label});
    }
    if (!rest.empty()) {
      int column = int(rest.data() - line.text.data()) + 1;
      kept.resize(std::max<size_t>(kept.size(), column - 1), ' ');
      auto assembly = statement(rest, line.number, column);
      if (!assembly) return assembly.error();
      kept += *assembly;
    }
    out_.assembly += kept + "\n";
    return std::nullopt;
  }

  // Adds the statement and returns what to assemble for it.
  std::expected<std::string, isa::AssemblyError> statement(std::string_view text, int line, int column) {
    Statement s{.kind = StatementKind::instruction, .line = line, .column = column, .text = std::string(text)};
    std::string_view word = first_word(text);
    std::string assembly = s.text;
    if (word.starts_with(".p2align")) {
      s.kind = StatementKind::align;
      assembly.clear();
    } else if (word.starts_with('.')) {
      auto directive = std::ranges::find(data_directives, word, &DataDirective::name);
      if (directive == std::end(data_directives))
        return std::unexpected(isa::AssemblyError{line, column, fmt::format("directive {} is not allowed here", word)});
      s.kind = StatementKind::data;
      s.data_size = directive->size * uint32_t(1 + std::ranges::count(text, ','));
    } else if (is_branch(word)) {
      auto labels = labels_in(text.substr(word.size()), is_label_);
      size_t space = text.find_last_of(" \t,");
      if (labels.empty() && space != std::string_view::npos &&
          (std::isdigit(uint8_t(text[space + 1])) || text[space + 1] == '-'))
        return std::unexpected(isa::AssemblyError{line, column, "a branch must name a label, not a distance"});
      if (!labels.empty()) s.target = labels.back();
      outer_.insert(labels.begin(), labels.end());
    } else {
      assembly = symbolic_operands(s);
    }
    out_.statements.push_back(std::move(s));
    return assembly;
  }

  std::string symbolic_operands(Statement& s) {
    std::string assembly = s.text;
    auto operands = operands_of(s.text);
    for (auto operand = operands.rbegin(); operand != operands.rend(); ++operand) {
      std::string_view text = std::string_view(s.text).substr(operand->first, operand->second - operand->first);
      auto labels = labels_in(text, [&](std::string_view name) { return is_operand_name(name) && is_label_(name); });
      size_t at = text.find('@');
      if (labels.empty() && at == std::string_view::npos) continue;
      s.symbolic = true;
      s.target = !labels.empty() ? labels.front() : std::string(trimmed(text.substr(0, at)));
      assembly.replace(operand->first, operand->second - operand->first, " " + std::string(placeholder));
    }
    return assembly;
  }

  const std::function<bool(std::string_view)>& is_label_;
  EditText out_;
  std::set<std::string> outer_, inner_;
};

} // namespace

std::expected<EditText, isa::AssemblyError> take_apart(const std::string& text,
                                                       const std::function<bool(std::string_view)>& is_label) {
  return Taker(is_label).take(text);
}

std::vector<std::pair<std::string, int>> defined_labels(const std::string& text) {
  std::vector<std::pair<std::string, int>> labels;
  for (const Line& line : lines_of(text)) {
    std::string_view rest = trimmed(line.text);
    while (auto label = take_label(rest)) labels.emplace_back(*label, line.number);
  }
  return labels;
}

} // namespace asmevo::recover
