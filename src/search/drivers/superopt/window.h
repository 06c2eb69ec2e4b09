// Windows: integer instructions of a program that compute one value together.
//
// A window is what a value is computed from: its last instruction (the root) and up to five that feed it, wherever in
// the block they stand. The replacement is put in the place of the root. So everything that the window reads must still
// be there at the root, and EXEC must be what it was when the first of its vector instructions ran. Of the others those
// that nobody else wants are removed and count as saved; one that is wanted elsewhere, or at the end of the block, is
// kept and saves nothing, but the chain through it may become shorter. SCC must be of no interest behind the root of a
// scalar window.
//
// A sum of two words with a carry has two results, in neighbouring registers: there the window computes the pair.
#pragma once

#include "search/drivers/rewrite/rule.h"
#include "search/drivers/superopt/sequence.h"

namespace asmevo::search::superopt {

struct Window {
  Sequence sequence;
  std::vector<isa::RegisterRange> inputs; // by leaf; of constants nothing is said
  isa::RegisterRange output;
  std::vector<size_t> items;        // ascending; the root is the last
  std::optional<size_t> other_root; // the item that writes the lower word of a pair: removed with the root
  std::vector<size_t> removed;      // those that nobody wants but the root
  bool scalar = false;

  size_t root() const { return items.back(); }
};

inline constexpr size_t most_window_items = 6, most_windows_of_a_root = 12, most_inputs = 4;

/// Windows of a block by root, the largest of each first.
std::vector<std::vector<Window>> windows_of(const rewrite::Facts& facts, const analysis::Block& block,
                                            Opcodes& opcodes);

/// The replacement as instructions in the place of the root. Registers for what comes in between are such that hold
/// nothing wanted there; they are noted in `overwritten`. Nothing where there are none, or a source cannot be encoded.
std::optional<std::string> text_of(const rewrite::Facts& facts, const Window& window, const Sequence& replacement,
                                   std::vector<isa::RegisterRange>& overwritten);

} // namespace asmevo::search::superopt
