// What the controller decided about the course of a search, and why.
#pragma once

#include "search/driver.h"

namespace asmevo::search {

enum class DecisionKind : uint8_t {
  exhausted, // the driver has no more ideas for a version and a focus
  redirect,  // another window or direction of the same version
  backtrack, // another verified version
  share,     // evaluations of a round, in a team
  conflict   // two versions that cannot be merged
};
std::string_view decision_name(DecisionKind);
std::optional<DecisionKind> decision_from_name(std::string_view);

struct Decision {
  int64_t before = 0; // the number of the evaluation that followed
  int64_t worker = 0;
  DecisionKind kind = DecisionKind::exhausted;
  int64_t version = 0; // that it is about, or goes to
  Focus focus;
  std::string reason; // one line
};

} // namespace asmevo::search
