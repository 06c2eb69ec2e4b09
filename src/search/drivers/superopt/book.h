// What was found about windows, kept between runs: a rule for each normalised window, or that there is nothing cheaper.
//
// A window is looked at in two forms. In the first the constants are left open: what is proved then holds for all of
// them, and one rule covers every shift and offset. In the second they are what they are. Both answers are functions of
// the form alone, so it makes no difference whether they come from the book or from a search, and a run that goes on
// proposes what it would have proposed.
//
// The book lies in $XDG_CACHE_HOME/asmevo/superopt (~/.cache without it) and can be deleted at any time. It is of one
// build of this program; another build begins a new one. A line that is not as it was written spoils the whole: then
// nothing is taken from it, and whoever asks is told.
#pragma once

#include "search/drivers/superopt/finder.h"

#include <unordered_map>

namespace asmevo::search::superopt {

class Book {
public:
  /// Nothing is kept where `path` is empty.
  explicit Book(std::string path);

  /// What was wrong with the file, in one line.
  const std::optional<std::string>& trouble() const { return trouble_; }
  /// Empty text: nothing is cheaper. Null: nobody has looked.
  const std::string* find(const std::string& key) const;
  void keep(std::string key, std::string replacement);
  /// Writes what is new. A book that cannot be written only costs the next run its time.
  void save();

  size_t searches = 0; // that had to be made

private:
  static constexpr size_t most = 200'000;
  void read();

  std::string path_;
  std::unordered_map<std::string, std::string> rules_;
  std::optional<std::string> trouble_;
  bool changed_ = false;
};

/// Where the environment says that it is; empty where it names no place or nothing says which build this is.
std::string book_path();

/// Replacements of a window, the cheapest first: at most one for any constants and one for these.
std::vector<Sequence> cheaper(const Sequence& window, std::string_view target, const Opcodes& opcodes,
                              const Bounds& bounds, Book& book);

} // namespace asmevo::search::superopt
