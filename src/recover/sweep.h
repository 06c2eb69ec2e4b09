// Which bytes of a code section are instructions.
//
// Code and data share .text, and nothing marks them. A linear sweep is thrown off by the first data word that looks
// like the start of a long instruction; following control flow alone misses what is reached through registers. So
// control flow goes first: everything that entries, function symbols and branches reach is code, beyond doubt. Between
// those islands a linear sweep reads on, bounded by them; what does not decode, or branches to nowhere, is data.
#pragma once

#include "isa/codec.h"
#include "object/code_extent.h"

#include <vector>

namespace asmevo::recover {

/// A run of the code in address order: one instruction, or `size` bytes of data.
struct Piece {
  uint64_t offset = 0; // from the first section's start
  uint32_t size = 0;
  int instruction = -1; // index in Sweep::instructions
};

struct Sweep {
  std::vector<isa::Instruction> instructions;
  std::vector<Piece> pieces;
};

/// Addresses that are known to be something.
struct Landmarks {
  std::vector<uint64_t> roots; // control arrives there from outside
  std::vector<uint64_t> hints; // look like starts (labels); they guide the sweep between the islands, never an error
  std::vector<uint64_t> data;  // words that no instruction has, unless control flow reaches it
  std::vector<uint64_t> ends;  // words that begin no instruction, unless control flow reaches it
};

/// No piece lies between sections or in two of them.
/// Errors: control flow that reaches the middle of an instruction or leaves the code, by address and bytes.
Result<Sweep> sweep(const object::CodeObject& object, const object::CodeExtent& code, const Landmarks& landmarks,
                    const isa::Codec& codec);

} // namespace asmevo::recover
