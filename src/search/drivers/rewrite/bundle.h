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

/// Which program it is: the listing itself, since programs come and go at the same address.
size_t fingerprint(const recover::Program& program);

/// What a step made of a program, and in how many places. Bundles of one program have most of their steps in common.
struct StepResult {
  std::shared_ptr<const recover::Program> program;
  size_t times = 0;
  size_t print = 0;
};
using KnownSteps = std::map<std::tuple<size_t, const Rule*, unsigned>, StepResult>; // by fingerprint, rule and variant

/// A program on its way through the catalogue.
struct Draft {
  std::shared_ptr<const recover::Program> program;
  size_t print = 0;
  std::vector<Bundle::Step> applied;
  std::vector<size_t> times; // of each: places
};

/// A draft as a proposal.
struct Bundled {
  Draft draft;
  std::vector<recover::Edit> edits; // of the program of the facts
  std::string rationale;
  Direction direction; // of the first rule that applied
};

/// Makes drafts of one program. `known` is about programs that are made of it, and grows.
class Workshop {
public:
  /// Both must outlive it.
  Workshop(const Facts& facts, KnownSteps& known);
  const Draft& original() const { return original_; }
  /// With one more step, carried out wherever its rule applies; the same draft where that is nowhere.
  Draft with(const Draft& draft, const Bundle::Step& step);
  /// As a proposal. Not of the original.
  Bundled bundled(const Draft& draft) const;

private:
  const Facts& facts_of(const std::shared_ptr<const recover::Program>& program);
  StepResult carry_out(const Bundle::Step& step, std::shared_ptr<const recover::Program> program);

  const Facts& facts_;
  KnownSteps& known_;
  Draft original_;
  // Of the program that was looked at last: rules ask one after the other.
  std::shared_ptr<const recover::Program> looked_at_;
  std::optional<Facts> seen_;
};

/// Nothing where fewer than two ideas apply: those have proposals of their own.
std::optional<Bundled> carry_out(Workshop& workshop, const Bundle& bundle);

} // namespace asmevo::search::rewrite
