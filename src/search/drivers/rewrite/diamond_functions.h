// Functions that a compiler computes in one of two ways, by what the argument is, in the arms of a diamond.
//
// Most waves have lanes for either, so they run both arms. A rule recognises what the arms compute together and writes
// code in their place that runs without branches and changes of EXEC. Everything in the diamond has to serve that one
// register.
#pragma once

#include "search/drivers/rewrite/terms.h"

namespace asmevo::search::rewrite {

/// What code in the place of a diamond may name.
struct DiamondPlace {
  isa::Processor processor;
  std::string result, argument, condition; // vector registers; the argument may be the same as the result
  bool condition_is_opposite = false; // the mask is of the lanes in which the condition of the choice does not hold
  std::vector<std::string> free;      // vector registers besides
};

struct DiamondRule {
  /// The argument of the function where a choice is it. Its sign does not matter.
  std::optional<TermId> (*argument)(Terms& terms, TermId value);
  struct Form {
    std::string (*write)(const DiamondPlace& place);
    std::string_view what;
  };
  std::vector<Form> forms; // by variant
  size_t free = 0;         // registers that they need
};

std::vector<Idea> replace_diamonds(const Facts& facts, const DiamondRule& rule);

/// e^x in the forms that compilers give it, from precise to short.
std::vector<TermId> exponentials(Terms& terms, TermId x);

/// Coefficients by falling power, the last of them that of x^0.
TermId polynomial(Terms& terms, TermId x, std::span<const uint32_t> coefficients);

/// to = x * to + c.
std::string horner_step(isa::Processor processor, const std::string& to, const std::string& x, uint32_t c);

} // namespace asmevo::search::rewrite
