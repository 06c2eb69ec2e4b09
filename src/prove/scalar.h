// Scalar ALU instructions as functions on terms.
//
// The machine's own scalar meanings are functions of plain integers; these are the same ones over the vocabulary of
// machine/semantics/meaning.h, and a test runs both on random values. What is missing here is uninterpreted.
#pragma once

#include "prove/domain.h"

namespace asmevo::prove {

struct ScalarMeaning {
  enum class Form : uint8_t { value, saves_exec, writes_exec, compare };
  Form form = Form::value;
  uint8_t destination = 32; // width
  uint8_t sources[2] = {32, 32};
  bool reads_destination = false; // the first source is the old destination
  /// `scc` comes in as it is and goes out as the instruction leaves it.
  Id (*run)(Terms& terms, std::span<const Id> sources, Id& scc) = nullptr;
};

/// Null for what has no scalar meaning here.
const ScalarMeaning* scalar_meaning(std::string_view mnemonic);

} // namespace asmevo::prove
