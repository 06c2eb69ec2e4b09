// Candidates are text from anywhere, and an assembler is a small programming language: it includes files, loops,
// expands macros and prints. What is refused here is refused by name wherever the name stands (comments and strings
// included), so that no disagreement about what is a comment can hide it. A region of code may use a handful of
// directives only; those are recognised where a statement can begin.
//
// The parser recurses on brackets and prefix operators, and on chains of symbols that are defined by symbols: both are
// bounded so that no text exhausts the stack.
#include "isa/statements.h"

#include <algorithm>
#include <array>
#include <optional>

namespace asmevo::isa {
namespace {

constexpr size_t longest_text = size_t{64} << 20;
constexpr int deepest_nesting = 256;     // brackets and prefix operators of one line
constexpr int most_assignments = 20'000; // .set and name = value, of a whole listing
constexpr size_t longest_line = 1 << 20;

/// Files, output, loops, macros; and fills that write their bytes one by one.
constexpr auto refused_everywhere = std::to_array<std::string_view>(
    {".include",          ".incbin", ".macro",   ".endm", ".endmacro", ".exitm", ".altmacro", ".noaltmacro",
     ".purgem",           ".rept",   ".rep",     ".irp",  ".irpc",     ".endr",  ".print",    ".secure_log_unique",
     ".secure_log_reset", ".dump",   ".load",    ".fill", ".org",      ".ds",    ".dcb",      ".bundle_align_mode",
     ".bundle_lock",      ".error",  ".warning", ".err",  ".macros_on"});

constexpr auto allowed_in_region = std::to_array<std::string_view>(
    {".long", ".4byte", ".int", ".short", ".2byte", ".byte", ".quad", ".8byte", ".p2align", ".text", ".set", ".word"});

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '$' || c == '@';
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// ".ds.b" counts as ".ds".
bool is_refused(std::string_view directive) {
  const std::string name = lower(directive);
  return std::ranges::any_of(refused_everywhere, [&](std::string_view word) {
    return name == word || (name.starts_with(word) && name[word.size()] == '.');
  });
}

AssemblyError at(int line, size_t column, std::string message) {
  return {line, static_cast<int>(column) + 1, std::move(message)};
}

/// Walks over text the way LLVM's lexer does. What LLVM's lexer does not come back from is refused: open strings,
/// single quotes (outside of metadata, which is YAML) and bytes beyond ASCII.
class Commentless {
public:
  explicit Commentless(std::string_view text) : text_(text), result_(text) {}

  std::expected<std::string, AssemblyError> run() {
    while (at_ < text_.size() && !error_) {
      const char c = text_[at_];
      if (c == '"')
        string();
      else if (c == ';' || starts("//"))
        blank_until(text_.find('\n', at_));
      else if (starts("/*"))
        block_comment();
      else
        ++at_;
    }
    if (error_) return std::unexpected(*std::move(error_));
    return std::move(result_);
  }

private:
  bool starts(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  void string() {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size() || text_[end] == '\n') return fail("a string without end");
    at_ = end + 1;
  }

  void block_comment() {
    const size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) return fail("a comment without end");
    blank_until(end + 2);
  }

  void blank_until(size_t end) {
    for (; at_ < std::min(end, text_.size()); ++at_)
      if (text_[at_] != '\n') result_[at_] = ' ';
  }

  void fail(std::string message) { error_ = here(std::move(message)); }

  AssemblyError here(std::string message) const {
    const std::string_view before = text_.substr(0, at_);
    const size_t line_begin = before.rfind('\n') + 1; // npos + 1 is 0
    return at(1 + static_cast<int>(std::ranges::count(before, '\n')), at_ - line_begin, std::move(message));
  }

  std::string_view text_;
  std::string result_;
  size_t at_ = 0;
  std::optional<AssemblyError> error_;
};

std::expected<std::string, AssemblyError> without_comments(std::string_view text) { return Commentless(text).run(); }

class Scanner {
public:
  Scanner(Scope scope) : scope_(scope) {}

  std::optional<AssemblyError> line(std::string_view text, int number) {
    if (text.size() > longest_line) return at(number, longest_line, "the line is longer than 1 MiB");
    size_t position = text.find_first_not_of(" \t");
    if (position != std::string_view::npos && text[position] == '#')
      return at(number, position, "a line may not begin with '#'; comments begin with ';' or '//'");
    bool statement = true; // only labels and space so far
    int depth = 0;
    for (size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (static_cast<unsigned char>(c) < ' ' && c != '\t')
        return at(number, i, fmt::format("control character 0x{:02x}", static_cast<unsigned char>(c)));
      if (is_name(c)) {
        const size_t begin = i;
        while (i < text.size() && is_name(text[i])) ++i;
        const std::string_view name = text.substr(begin, i - begin);
        if (auto error = word(name, statement, number, begin)) return error;
        const bool label = i < text.size() && text[i] == ':';
        statement = statement && label;
        continue;
      }
      if (std::string_view("([{-~!+").find(c) != std::string_view::npos && ++depth > deepest_nesting)
        return at(number, i, "the expression is nested too deeply");
      if (c == '=' && ++assignments_ > most_assignments) return at(number, i, "too many symbol assignments");
      if (c == ':')
        statement = true;
      else if (c != ' ' && c != '\t')
        statement = false;
      ++i;
    }
    return std::nullopt;
  }

private:
  std::optional<AssemblyError> word(std::string_view name, bool statement, int number, size_t column) {
    if (name.front() != '.') return std::nullopt;
    if (is_refused(name)) return at(number, column, fmt::format("directive {} is not allowed", name));
    const std::string word = lower(name);
    if ((word == ".set" || word == ".equ" || word == ".equiv") && ++assignments_ > most_assignments)
      return at(number, column, "too many symbol assignments");
    if (!statement || scope_ == Scope::listing || word.starts_with(".l")) return std::nullopt;
    if (std::ranges::find(allowed_in_region, word) == allowed_in_region.end())
      return at(number, column, fmt::format("directive {} is not allowed in a region of code", name));
    return std::nullopt;
  }

  Scope scope_;
  int assignments_ = 0;
};

} // namespace

std::expected<std::string, AssemblyError> screened(std::string_view text, Scope scope) {
  if (text.size() > longest_text) return std::unexpected(AssemblyError{1, 1, "the text is longer than 64 MiB"});
  auto clean = without_comments(text);
  if (!clean) return clean;
  const std::string_view rest = *clean;
  Scanner scanner(scope);
  int number = 0;
  for (size_t begin = 0; begin <= rest.size();) {
    const size_t end = std::min(rest.find('\n', begin), rest.size());
    std::string_view line = rest.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (auto error = scanner.line(line, ++number)) return std::unexpected(*std::move(error));
    begin = end + 1;
  }
  return clean;
}

} // namespace asmevo::isa
