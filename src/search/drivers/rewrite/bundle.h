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

#include <map>
#include <memory>
#include <tuple>

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
  std::vector<Bundle::Step> applied;
};

/// Which program it is: the listing itself, since programs come and go at the same address.
size_t fingerprint(const recover::Program& program);

/// What a step made of a program, and in how many places. Bundles of one program have most of their steps in common.
struct StepResult {
  std::shared_ptr<const recover::Program> program;
  size_t times = 0;
};
using KnownSteps = std::map<std::tuple<size_t, const Rule*, unsigned>, StepResult>; // by fingerprint, rule and variant

/// Nothing where fewer than two ideas apply: those have proposals of their own. `known` is about programs that are made
/// of that of `facts`, and grows.
std::optional<Bundled> carry_out(const Facts& facts, const Bundle& bundle, KnownSteps& known);

} // namespace asmevo::search::rewrite
