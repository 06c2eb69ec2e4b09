// What floating-point code computes, as terms that do not depend on how it is written.
//
// The same function comes with its instructions in another order, in other registers, with a product's sign in the one
// or the other factor, with constants in scalar registers or in the instruction. So instructions are followed and what
// they compute is written down as a term in one form only: equal terms are the same term, and to recognise a function
// is to write it down as a term too. A sum of a product and something is one operation, rounded once or twice.
#pragma once

#include "analysis/reaching.h"
#include "search/drivers/rewrite/formula.h"

#include <array>
#include <map>

namespace asmevo::search::rewrite {

using TermId = uint32_t;

/// `choice` takes the second operand where the first holds, else the third; `fused` is a * b + c, `fused_less` is
/// c - a * b; `start` is what a register held when the code began.
enum class Op : uint8_t {
  start,
  constant,
  unknown,
  negative,
  magnitude,
  sum,
  product,
  fused,
  fused_less,
  reciprocal,
  power_of_two,
  nearest,
  integer,
  scaled,
  less,
  opposite,
  choice
};

class Terms {
public:
  struct Term {
    Op op;
    uint32_t value = 0; // constant: its bits; start: the register; unknown: which
    std::array<TermId, 3> of{};
    auto operator<=>(const Term&) const = default;
  };

  const Term& operator[](TermId id) const { return terms_[id]; }
  bool is(TermId id, Op op) const { return terms_[id].op == op; }
  bool is_constant(TermId id, uint32_t bits) const { return is(id, Op::constant) && terms_[id].value == bits; }

  TermId constant(uint32_t bits) { return intern({Op::constant, bits}); }
  TermId start(uint32_t unit) { return intern({Op::start, unit}); }
  TermId unknown() { return intern({Op::unknown, unknowns_++}); }
  TermId negative(TermId a);
  TermId magnitude(TermId a);
  TermId sum(TermId a, TermId b);
  TermId difference(TermId a, TermId b) { return sum(a, negative(b)); }
  TermId product(TermId a, TermId b);
  TermId fused(TermId a, TermId b, TermId c);
  TermId less(TermId a, TermId b);
  TermId opposite(TermId condition);
  TermId choice(TermId condition, TermId then, TermId otherwise);
  TermId of(Op op, TermId a, TermId b = 0) { return intern({op, 0, {a, b}}); }

private:
  TermId intern(const Term& term);
  bool takes_sign_off(TermId& a) const; // and puts what is left there

  std::vector<Term> terms_;
  std::map<Term, TermId> ids_;
  uint32_t unknowns_ = 0;
};

/// What registers hold while code is followed.
class Tracked {
public:
  Tracked(const Facts& facts, Terms& terms, const analysis::Reaching& reaching, size_t begin)
      : facts_(&facts), terms_(&terms), reaching_(&reaching), begin_(begin) {}

  void follow(size_t item);
  TermId holds(const isa::RegisterRange& range);
  void forget(const isa::RegisterRange& range);

private:
  struct Part {
    TermId term;
    uint16_t index, count; // which register of how many
  };

  TermId operand(const std::string& text);
  TermId result(const isa::Instruction& i, const InstructionText& text);
  TermId compared(std::string_view relation, const InstructionText& text);
  void forget_lanes();
  void set(const isa::RegisterRange& range, TermId term);

  const Facts* facts_;
  Terms* terms_;
  const analysis::Reaching* reaching_;
  size_t begin_;
  std::map<size_t, Part> parts_; // by register; what is not here is as it was
  bool lanes_forgotten_ = false; // of registers that are not in parts_ nothing but numbers is as it was
  bool all_forgotten_ = false;
};

} // namespace asmevo::search::rewrite
