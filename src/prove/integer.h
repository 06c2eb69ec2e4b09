// The machine's integer instructions of the vector ALU as functions on terms, found by mnemonic.
#pragma once

#include "machine/registry.h"
#include "prove/term.h"

namespace asmevo::prove {

/// Terms of one lane. A source of two rows is one 64-bit term, a mask a bit.
struct IntegerResult {
  Id value = 0; // of the format of `destination`: a word, a long or a bit
  Id carry = 0; // a bit; where the instruction has a carry-out
};

struct IntegerMeaning {
  machine::Format destination;
  std::array<machine::Format, 3> sources;
  uint8_t source_count = 0; // of the meaning: an accumulating instruction has its destination as the last one
  bool carry_out = false;
  bool keeps_upper_half = false; // of a 16-bit result
  bool accumulates = false;
  bool writes_exec = false; // v_cmpx
  IntegerResult (*plain)(Terms& terms, std::span<const Id> sources) = nullptr;
  IntegerResult (*clamped)(Terms& terms, std::span<const Id> sources) = nullptr; // null where clamp says nothing
};

/// Null for what has no integer meaning.
const IntegerMeaning* integer_meaning(std::string_view mnemonic);

} // namespace asmevo::prove
