// Addresses that a loop moves on by a constant.
//
// With several iterations side by side an address need not be moved between them: the offset that every memory
// instruction has room for says how far on it is, and one addition at the end makes up for all. Where that room is for
// half of the iterations only, the other half has an address of its own.
#pragma once

#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

struct Stepper {
  size_t item = 0; // the addition
  isa::RegisterRange range;
  int64_t by = 0;                           // bytes an iteration
  std::string amount;                       // the operand that says so
  std::vector<size_t> uses;                 // memory instructions of the loop that take their address from it
  std::optional<isa::RegisterRange> second; // the address of iterations [half, ...), where offsets do not reach them
  uint64_t half = 0;

  /// What makes the second address; nothing where there is none.
  std::string start() const;
  /// The addition for `times` iterations, a power of two.
  std::string step(uint64_t times) const;
  /// Bytes from what the register says when an iteration begins to what a use means.
  int64_t offset(size_t use, const InstructionText& text) const;
  /// A use that comes `iterations` iterations later than its register says.
  InstructionText later(size_t use, InstructionText text, uint64_t iterations) const;
};

/// Those of a loop of one block for which `times` iterations fit into the offsets of all their uses.
std::vector<Stepper> steppers(const Facts& facts, const analysis::Block& block, uint64_t times);

} // namespace asmevo::search::rewrite
