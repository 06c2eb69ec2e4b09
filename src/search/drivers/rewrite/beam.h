// A beam over what the catalogue can make of a program.
//
// One bundle takes every rule in its turn, and others leave one of them out. Which rules are worth having together in
// this kernel only the results tell, and there are too many sets of rules to look at all. So the catalogue is gone
// through rule by rule. At each there is a decision: to take it, in one of its variants, or to leave it. A decision is
// worth the modelled time of what comes of it when the rest of the catalogue is taken as it stands: a rule that wins
// nothing itself is kept for the one that it makes room for, and one that stands in the way of a better one is left.
// The few best go on to the next rule, and at the end the best programs go through the catalogue again for as long as
// that helps: rules find places that others have made.
//
// Nothing in a beam is verified. What it ends with is proposed like everything else, and the gate judges.
#pragma once

#include "search/drivers/rewrite/bundle.h"
#include "search/model.h"

namespace asmevo::search::rewrite {

/// What the model said of programs, by fingerprint; nothing where it had nothing to say.
using Modelled = std::map<size_t, std::optional<double>>;

struct Ranked {
  Draft draft;
  double seconds = 0;
};

/// How far a beam goes. It is counted, not timed, so that a program has the same beam everywhere.
struct BeamLimits {
  size_t width = 4;
  size_t programs = 96; // that the model is asked for
};
/// As many programs as take the model a few seconds; none where `facts` were not timed.
BeamLimits beam_limits(const Facts& facts);

/// All programs that came up, the fastest first; each once, and not the original. `modelled` grows and changes nothing
/// but how long it takes. Nothing where the model has nothing to say of the original.
std::vector<Ranked> beam(const Facts& facts, Workshop& workshop, Model& model, Modelled& modelled,
                         const BeamLimits& limits);

/// What to propose of these: the fastest, and for each of its rules the fastest without it, since one rule may be what
/// the gate refuses. Only what wins `least_gain` of `seconds`.
std::vector<Ranked> worth_proposing(std::span<const Ranked> ranked, double seconds, double least_gain);

} // namespace asmevo::search::rewrite
