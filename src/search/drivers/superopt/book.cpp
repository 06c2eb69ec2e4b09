#include "search/drivers/superopt/book.h"

#include "support/build_id.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/version.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace asmevo::search::superopt {
namespace {

namespace fs = std::filesystem;

constexpr size_t check_digits = 12;

std::string heading() { return fmt::format("asmevo superopt {} {}", version, build_id()); }

std::string line_of(const std::string& key, const std::string& replacement) {
  const std::string rule = key + "\t" + replacement;
  return sha256_hex(rule).substr(0, check_digits) + " " + rule;
}

} // namespace

std::string book_path() {
  if (build_id().empty()) return {};
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return (fs::path(cache) / "asmevo/superopt/rules").string();
  if (const char* home = std::getenv("HOME"); home && *home)
    return (fs::path(home) / ".cache/asmevo/superopt/rules").string();
  return {};
}

Book::Book(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) read();
}

void Book::read() {
  std::error_code error;
  if (!fs::exists(path_, error)) return;
  const auto text = read_text_file(path_, uint64_t{1} << 28);
  if (!text) {
    trouble_ = text.error().message;
    return;
  }
  std::string_view rest = *text;
  const auto next_line = [&] {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
  };
  const std::string_view first = next_line();
  if (first.starts_with("asmevo superopt ") && first != heading()) return; // another build's
  bool sound = first == heading() && text->ends_with('\n');
  while (sound && !rest.empty()) {
    const std::string_view line = next_line();
    const size_t tab = line.find('\t');
    sound = line.size() > check_digits + 1 && tab != line.npos && tab > check_digits && rules_.size() < most;
    if (!sound) break;
    std::string key(line.substr(check_digits + 1, tab - check_digits - 1)), replacement(line.substr(tab + 1));
    sound = line == line_of(key, replacement);
    if (sound) rules_.emplace(std::move(key), std::move(replacement));
  }
  if (sound) return;
  rules_.clear();
  trouble_ = fmt::format("{}: damaged; what it says is not used and is searched for again", path_);
}

const std::string* Book::find(const std::string& key) const {
  const auto found = rules_.find(key);
  return found == rules_.end() ? nullptr : &found->second;
}

void Book::keep(std::string key, std::string replacement) {
  if (rules_.size() >= most) return;
  changed_ |= rules_.emplace(std::move(key), std::move(replacement)).second;
}

void Book::save() {
  if (path_.empty() || !changed_) return;
  std::vector<std::string> lines;
  for (const auto& [key, replacement] : rules_) lines.push_back(line_of(key, replacement));
  std::ranges::sort(lines);
  std::string text = heading() + "\n";
  for (const std::string& line : lines) text += line + "\n";
  std::error_code error;
  fs::create_directories(fs::path(path_).parent_path(), error);
  if (!error) (void)write_text_file(path_, text);
  changed_ = false;
}

std::vector<Sequence> cheaper(const Sequence& window, std::string_view target, const Opcodes& opcodes,
                              const Bounds& bounds, Book& book) {
  std::vector<Sequence> found;
  const auto look_up = [&](const Sequence& form) {
    const std::string key = fmt::format("{} {}", target, spelled(form));
    const std::string* known = book.find(key);
    if (!known) {
      ++book.searches;
      const Finding finding = find_cheaper(form, opcodes, bounds);
      const auto& replacement = finding.replacement;
      book.keep(key, replacement ? spelled_steps(*replacement, form.leaves.size()) : "");
      if (replacement) found.push_back(*replacement);
      return;
    }
    if (known->empty()) return;
    if (auto replacement = read_steps(*known, form, opcodes)) found.push_back(*std::move(replacement));
  };
  Sequence open = window;
  bool constants = false;
  for (Leaf& leaf : open.leaves) {
    if (!leaf.constant) continue;
    leaf.abstract = constants = true;
    leaf.value = 0;
  }
  look_up(window);
  if (constants) look_up(open);
  std::ranges::stable_sort(found, {}, cost_of);
  return found;
}

} // namespace asmevo::search::superopt
