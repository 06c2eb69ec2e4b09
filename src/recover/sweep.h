// Which bytes of a code section are instructions.
//
// Code and data share .text, and nothing marks them. A linear sweep is thrown off by the first data word that looks
// like the start of a long instruction; following control flow alone misses what is reached through registers. So
// control flow goes first: everything that entries, function symbols and branches reach is code, beyond doubt. Between
// those islands a linear sweep reads on, bounded by them; what does not decode, or branches to nowhere, is data.
#pragma once

#include "isa/codec.h"
#include "object/code_object.h"

#include <span>
#include <vector>

namespace asmevo::recover {

/// A run of the section in address order: one instruction, or `size` bytes of data.
struct Piece {
  uint64_t offset = 0;
  uint32_t size = 0;
  int instruction = -1; // index in Sweep::instructions
};

struct Sweep {
  std::vector<isa::Instruction> instructions;
  std::vector<Piece> pieces;
};

/// `roots`: addresses where control arrives from outside. `hints`: addresses that look like starts (labels); they guide
/// the sweep between the islands and are never an error.
/// Errors: control flow that reaches the middle of an instruction or leaves the section, by address and bytes.
Result<Sweep> sweep(const object::CodeObject& object, const object::Section& code, std::span<const uint64_t> roots,
                    std::span<const uint64_t> hints, const isa::Codec& codec);

} // namespace asmevo::recover
