// Candidates are text from anywhere, and an assembler is a small programming language: it includes files, loops,
// expands macros and prints. What is refused here is refused by name wherever the name stands, strings included, so
// that no disagreement about where a string ends can hide it. A region of code may use a handful of directives only;
// those are recognised where a statement can begin. Comments are blanked out before LLVM sees the text, for people
// write anything in them.
//
// The parsers recurse on brackets, prefix operators and the indentation of YAML, and a symbol defined by symbols is
// evaluated again at each use, so that a few dozen lines can ask for more work than there is time. All of these are
// bounded.
#include "isa/statements.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace asmevo::isa {
namespace {

constexpr size_t longest_text = size_t{64} << 20;
constexpr int deepest_nesting = 256;           // open brackets; prefix operators of one line
constexpr size_t deepest_indentation = 512;    // space and dashes at the start of a line
constexpr int most_assignments = 256;          // .set and name = value, of a whole listing
constexpr uint64_t largest_expansion = 10'000; // symbols that evaluating one of them visits
constexpr size_t longest_line = 1 << 20;

/// Files, output, loops, macros; and fills that write their bytes one by one.
constexpr auto refused_everywhere = std::to_array<std::string_view>(
    {".include",          ".incbin", ".macro", ".endm",    ".endmacro", ".exitm",    ".altmacro", ".noaltmacro",
     ".purgem",           ".rept",   ".rep",   ".irp",     ".irpc",     ".endr",     ".print",    ".secure_log_unique",
     ".secure_log_reset", ".dump",   ".load",  ".fill",    ".org",      ".ds",       ".dcb",      ".bundle_align_mode",
     ".bundle_lock",      ".nops",   ".error", ".warning", ".err",      ".macros_on"});

constexpr auto allowed_in_region = std::to_array<std::string_view>(
    {".long", ".4byte", ".int", ".short", ".2byte", ".byte", ".quad", ".8byte", ".p2align", ".text", ".word"});

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

/// Symbols that are defined by expressions, and what evaluating them costs.
class Assignments {
public:
  /// `names` of a line that assigns the first of them the expression of the others. A reason to refuse it, or nothing.
  std::string_view add(const std::vector<std::string>& names) {
    if (names.empty()) return "a symbol assignment without a plain name";
    if (++count_ > most_assignments) return "too many symbol assignments";
    if (used_.contains(names.front())) return "a symbol is assigned after another assignment used it";
    uint64_t cost = 1;
    for (size_t n = 1; n < names.size(); ++n) {
      used_.insert(names[n]);
      if (auto known = costs_.find(names[n]); known != costs_.end()) cost += known->second;
    }
    if (cost > largest_expansion || used_.contains(names.front())) return "symbols that expand too far";
    costs_[names.front()] = cost;
    return {};
  }

private:
  int count_ = 0;
  std::unordered_map<std::string, uint64_t> costs_;
  std::unordered_set<std::string> used_;
};

/// Looks at one line at a time. Inside of strings only refused names matter.
class Scanner {
public:
  explicit Scanner(Scope scope) : scope_(scope) {}

  std::optional<AssemblyError> line(std::string_view text, int number) {
    if (text.size() > longest_line) return at(number, longest_line, "the line is longer than 1 MiB");
    const size_t first = std::min(text.find_first_not_of(" \t-"), text.size());
    if (first > deepest_indentation) return at(number, 0, "the line is indented too deeply");
    if (first < text.size() && text[first] == '#')
      return at(number, first, "a line may not begin with '#'; comments begin with ';' or '//'");
    begin_line();
    for (at_ = 0; at_ < text.size();) {
      const auto reason = is_name(text[at_]) ? name(text) : other(text);
      if (!reason.empty()) return at(number, reported_, reason);
    }
    if (!assigns_) return std::nullopt;
    const std::string_view reason =
        scope_ == Scope::region ? "symbol assignments are not allowed in a region of code" : assignments_.add(names_);
    return reason.empty() ? std::nullopt : std::optional(at(number, first, std::string(reason)));
  }

private:
  void begin_line() {
    statement_ = true;
    quoted_ = assigns_ = false;
    prefixes_ = 0;
    names_.clear();
  }

  std::string name(std::string_view text) {
    reported_ = at_;
    while (at_ < text.size() && is_name(text[at_])) ++at_;
    const std::string_view name = text.substr(reported_, at_ - reported_);
    const bool label = at_ < text.size() && text[at_] == ':';
    const bool begins = std::exchange(statement_, statement_ && label) && !quoted_;
    if (name.front() == '.' && is_refused(name)) return fmt::format("directive {} is not allowed", name);
    if (label || quoted_) return {};
    if (name.front() != '.' || !begins) {
      names_.emplace_back(name);
      return {};
    }
    if (name.starts_with(".L")) names_.emplace_back(name); // a local symbol that may be assigned
    return directive(lower(name));
  }

  std::string directive(const std::string& word) {
    if (word == ".set" || word == ".equ" || word == ".equiv") assigns_ = true;
    if (scope_ == Scope::listing || assigns_) return {};
    if (std::ranges::find(allowed_in_region, word) != allowed_in_region.end()) return {};
    return fmt::format("directive {} is not allowed in a region of code", word);
  }

  std::string other(std::string_view text) {
    reported_ = at_;
    const char c = text[at_++];
    if (static_cast<unsigned char>(c) < ' ' && c != '\t')
      return fmt::format("control character 0x{:02x}", static_cast<unsigned char>(c));
    if (c == '"') quoted_ = !quoted_;
    if (c == '\\' && quoted_) ++at_;
    if (quoted_) return {};
    if (std::string_view("([{").find(c) != std::string_view::npos) ++open_;
    if (std::string_view(")]}").find(c) != std::string_view::npos && open_ > 0) --open_;
    if (std::string_view("-~!+").find(c) != std::string_view::npos) ++prefixes_;
    if (open_ > deepest_nesting || prefixes_ > deepest_nesting) return "the expression is nested too deeply";
    const char before = reported_ > 0 ? text[reported_ - 1] : ' ', after = at_ < text.size() ? text[at_] : ' ';
    if (c == '=' && after != '=' && std::string_view("=<>!").find(before) == std::string_view::npos) assigns_ = true;
    if (c == ':')
      statement_ = true;
    else if (c != ' ' && c != '\t')
      statement_ = false;
    return {};
  }

  Scope scope_;
  Assignments assignments_;
  int open_ = 0; // brackets, over all lines
  // Of the current line:
  size_t at_ = 0, reported_ = 0;
  bool statement_ = true; // only labels and space so far
  bool quoted_ = false, assigns_ = false;
  int prefixes_ = 0;
  std::vector<std::string> names_; // but labels and directives
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
