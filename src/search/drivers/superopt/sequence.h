// A few integer instructions as a function: inputs and constants, steps, one result.
//
// Values are numbered: leaves first, then two for each step (the second is its carry or SCC). Registers are not named;
// that and when lanes are active is the business of whoever took the sequence from a program (window.h).
#pragma once

#include "search/drivers/superopt/opcode.h"

#include <optional>
#include <string>
#include <vector>

namespace asmevo::search::superopt {

struct Leaf {
  Type type = Type::word;
  bool constant = false;
  bool scalar = false;   // an input that is the same in all lanes
  bool abstract = false; // a constant whose value is left open
  uint32_t value = 0;    // of a constant; sign-extended where a pair is wanted
};

struct Step {
  const Opcode* opcode = nullptr;
  std::array<uint16_t, 4> sources{};
  bool kept = false; // its result is wanted elsewhere too, so that it stays whatever is found

  bool operator==(const Step&) const = default;
};

struct Sequence {
  std::vector<Leaf> leaves;
  std::vector<Step> steps;
  uint16_t result = 0;

  uint16_t value_of(size_t step) const { return uint16_t(leaves.size() + 2 * step); }
  bool is_leaf(uint16_t value) const { return value < leaves.size(); }
  size_t step_of(uint16_t value) const { return (value - leaves.size()) / 2; }
  Type type_of(uint16_t value) const;
};

/// What a sequence costs without what is kept anyway; the latency is that of all of it.
Cost cost_of(const Sequence& sequence);

/// "i0:v i1:s c2=5|v_lshlrev_b32 2 0|...|=4": equal for sequences that differ in registers only.
std::string spelled(const Sequence& sequence);
/// Only the steps and the result, over the leaves of another sequence and constants of its own: what a replacement is.
std::string spelled_steps(const Sequence& replacement, size_t shared_leaves);
/// The reverse. Nothing where the text says nothing of the kind.
std::optional<Sequence> read_steps(std::string_view text, const Sequence& window, const Opcodes& opcodes);

/// Without leaves that nothing reads, of those behind the first `shared` ones.
Sequence without_unused_leaves(const Sequence& sequence, size_t shared);

/// The term that the sequence computes of terms for its leaves.
prove::Id term_of(const Sequence& sequence, prove::Terms& terms, const std::vector<prove::Id>& leaves);

/// Terms for the leaves: symbols and constants.
std::vector<prove::Id> leaf_terms(const Sequence& sequence, prove::Terms& terms);

} // namespace asmevo::search::superopt
