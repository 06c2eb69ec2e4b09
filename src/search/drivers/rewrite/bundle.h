// Several ideas as one proposal.
//
// A change that wins less than the spread of its own speedup is refused, however many such changes there are: each loop
// unrolled wins half a percent, and all of them together five. So rules are also carried out everywhere at once, and
// several rules one after the other, each on what the ones before it have left.
//
// Which bundles there are depends on the catalogue alone and not on what was refused: drivers are asked for several
// proposals before they hear of the first.
#pragma once

#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

struct Bundle {
  struct Step {
    const Rule* rule;
    unsigned variant; // Idea::variant, where the rule has that many
  };
  std::vector<Step> steps;
  std::optional<Direction> direction; // where all steps have the same
};

/// The most comprehensive first.
std::vector<Bundle> all_bundles(bool with_float_rewrites);

struct Bundled {
  std::vector<recover::Edit> edits; // of the program of the facts
  std::string rationale;
  Direction direction; // of the first rule that applied
};

/// Nothing where fewer than two ideas apply: those have proposals of their own.
std::optional<Bundled> carry_out(const Facts& facts, const Bundle& bundle);

} // namespace asmevo::search::rewrite
