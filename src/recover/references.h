// Code that computes addresses.
//
// A position-independent object reaches data and functions by distance: `s_getpc_b64` gives the address behind itself,
// an add of a literal to its low half and an add with carry of the upper half move it to the target. The literals are
// right only while nothing between moves. Here such pairs are recognised and written with symbols, so that the
// assembler or the linker computes the distance again.
#pragma once

#include "isa/instruction.h"

#include <optional>
#include <span>
#include <string>

namespace asmevo::recover {

/// `s_getpc_b64` at index `base` and the two additions to it.
struct AddressPair {
  size_t base = 0, low = 0, high = 0; // indices of instructions
  bool subtracts = false;             // s_sub_u32, s_subb_u32
  uint64_t target = 0;
};

/// Looks at the s_getpc_b64 at `instructions[base]`. Nothing where its result is not moved by a literal pair in the
/// same straight line of code.
std::optional<AddressPair> address_pair(std::span<const isa::Instruction* const> instructions, size_t base);

/// The 32-bit literal of the instruction, where it has one.
std::optional<uint32_t> literal(const isa::Instruction& instruction);

/// `text` with the operand that spells the literal replaced by `expression`; empty where there is none.
std::string with_literal(const std::string& text, uint32_t literal, const std::string& expression);

/// For the addition `low` of a computed address and a later instruction with a constant: whether that one is its carry
/// for a target further on (true) or further back (false); nothing where it is no such carry.
std::optional<bool> carry_direction(const isa::Instruction& low, const isa::Instruction& later);

bool is_getpc(const isa::Instruction& instruction);

} // namespace asmevo::recover
