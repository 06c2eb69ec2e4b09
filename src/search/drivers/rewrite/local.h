// Questions about straight-line code that rules ask all the time.
#pragma once

#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

/// Of Facts::function among the program's functions.
size_t function_index(const Facts& facts);

/// A call may do either with any register.
bool reads(const isa::Instruction& instruction, const isa::RegisterRange& range);
bool writes(const isa::Instruction& instruction, const isa::RegisterRange& range);

/// What instructions of the block name, and what is wanted somewhere in it.
analysis::RegisterSet busy_registers(const Facts& facts, const analysis::Block& block);

/// Whether any instruction of items [first, last) writes a register of `range`.
bool written_between(const Facts& facts, const isa::RegisterRange& range, size_t first, size_t last);
bool read_between(const Facts& facts, const isa::RegisterRange& range, size_t first, size_t last);

/// The last item of the block before `item` that writes a register of `range`, or nothing.
std::optional<size_t> definition_of(const Facts& facts, const analysis::Block& block, size_t item,
                                    const isa::RegisterRange& range);

/// As definition_of, for an operand's text; only where the definition is `mnemonic` (without suffix).
std::optional<size_t> defined_by(const Facts& facts, const analysis::Block& block, size_t item,
                                 std::string_view operand, std::string_view mnemonic);

/// Whether a lane's result may depend on what other lanes hold, active or not.
bool crosses_lanes(const isa::Instruction& i);

/// Whether a destination is read as well, or written in part only, besides what the text says.
bool keeps_a_part(const isa::Instruction& i, const InstructionText& text, const isa::RegisterRange& destination);

/// Vector arithmetic lane by lane with one whole VGPR result, that depends on nothing but what it reads.
bool computes_by_lane(const Facts& facts, size_t item);

struct Line {
  size_t item;
  InstructionText text;
};
/// As defined_by, with the definition's text.
std::optional<Line> definition_line(const Facts& facts, const analysis::Block& block, size_t item,
                                    std::string_view operand, std::string_view mnemonic);

/// The block that a loop of one block is only entered from, by falling into it; nothing where there is another way in.
std::optional<uint32_t> entered_from(const Facts& facts, uint32_t number);

/// The condition operand of a v_cndmask, which its short form leaves implicit.
std::string condition_of(const InstructionText& select);

/// Ideas that replace two instructions each: `match` is asked at every `mnemonic` of a block. What does not overlap
/// makes one idea a block.
using PairMatch = std::optional<std::pair<recover::Edit, recover::Edit>> (*)(const Facts&, const analysis::Block&,
                                                                             size_t item);
std::vector<Idea> replace_pairs(const Facts& facts, std::string_view mnemonic, PairMatch match, std::string_view what);

/// Ideas that replace single instructions of a longer sequence: `match` is asked at every `mnemonic` of a block for the
/// edits, in order. What does not overlap makes one idea a block.
using SequenceMatch = std::vector<recover::Edit> (*)(const Facts&, const analysis::Block&, size_t item);
std::vector<Idea> replace_sequences(const Facts& facts, std::string_view mnemonic, SequenceMatch match,
                                    std::string_view what);

inline constexpr isa::RegisterRange exec{isa::File::sgpr, isa::exec_lo, 2};

} // namespace asmevo::search::rewrite
