// Text that assembles back to the same words.
//
// For most instructions the printer's text does. For some it does not: LLVM has several encodings for one text, drops
// unused bits, or refuses what an older compiler wrote. The only proof is to assemble the text and to compare, so that
// is what happens here, in batches, with the answers remembered for the life of the process: a search decodes the same
// few thousand instructions again and again.
#pragma once

#include "isa/codec.h"

#include <span>
#include <string>
#include <vector>

namespace asmevo::recover {

struct Spelling {
  std::string text; // branches with their raw distance
  bool raw = false; // text is ".long ..." because no other text gives the words
};

/// One spelling for each instruction. `codec` must be of the target that decoded them.
std::vector<Spelling> spell(std::span<const isa::Instruction* const> instructions, const isa::Codec& codec);

/// Whether spell() has proved earlier in this process that `text` gives the words of the instruction.
bool is_proved(const isa::Instruction& instruction, const isa::Target& target, std::string_view text);

/// ".long 0xbf810000" for the words of an instruction.
std::string as_words(const isa::Instruction& instruction);

} // namespace asmevo::recover
