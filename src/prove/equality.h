// Whether two terms are equal for all inputs, in every lane.
//
// The same number: yes. Different in some possible world (evaluate.h): no. Else a solver is asked, over bit-vectors,
// for one arbitrary lane. What it is told must be true of one lane alone: functions that work lane by lane are
// functions for it too, but what speaks of the whole wave (cross-lane operations, memories, masks made of a bit) is a
// mere name, and two of them get the same name only where their arguments were proved equal by themselves, for every
// lane and input.
#pragma once

#include "prove/evaluate.h"
#include "prove/prove.h"
#include "prove/term.h"

#include <chrono>
#include <memory>

namespace asmevo::prove {

enum class Answer : uint8_t { equal, different, unknown };

class Equality {
public:
  /// `limit`: of one question to the solver, counted in its steps so that the answer does not depend on how busy the
  /// machine is; after a few that it gave no answer to, no more are asked. `effort`: what all questions may cost.
  Equality(Terms& terms, Id lane, std::chrono::milliseconds limit, const Effort& effort = {});
  ~Equality();
  Equality(const Equality&) = delete;
  Equality& operator=(const Equality&) = delete;

  /// Wherever `condition` holds.
  Answer compare(Id a, Id b, Id condition);
  Answer compare(Id a, Id b) { return compare(a, b, terms_.bit(true)); }

  unsigned questions() const { return questions_; }
  unsigned unanswered() const { return failures_; }

private:
  struct Solver;
  Answer parts_equal(Id a, Id b);
  Id representative(Id node);

  Terms& terms_;
  Id lane_;
  std::chrono::milliseconds limit_;
  unsigned most_failures_;
  size_t most_terms_;
  std::vector<World> worlds_;
  std::map<std::array<Id, 3>, Answer> known_;
  std::map<Id, Id> representatives_;
  std::map<uint64_t, std::vector<Id>> by_function_;
  std::unique_ptr<Solver> solver_; // made when it is first needed
  unsigned questions_ = 0;
  unsigned failures_ = 0;
};

} // namespace asmevo::prove
