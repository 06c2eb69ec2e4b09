// Instruction text as the rules edit it: a mnemonic, operands, modifiers.
//
// Rules move registers about in text because text is what a driver proposes. The parts are kept exactly as printed, so
// that an instruction that no rule touches is written back unchanged.
#pragma once

#include "isa/instruction.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::search::rewrite {

struct InstructionText {
  std::string mnemonic;              // with its suffix: "v_add_f32_e32"
  std::vector<std::string> operands; // "v0", "-v4", "|v2|", "s[2:3]", "1.0", "off"
  std::string modifiers;             // the rest of the line: " offset:16 nt"
};

InstructionText parse_instruction(std::string_view line);
std::string write_instruction(const InstructionText& text);

/// The mnemonic without _e32/_e64/_sdwa/_dpp.
std::string_view base_mnemonic(std::string_view mnemonic);
std::string_view base_mnemonic(std::string&& mnemonic) = delete; // it would be gone

/// The registers that an operand names, without its sign, magnitude bars or extension: "v4", "-v[2:3]", "sext(v1)",
/// "vcc", "exec", "m0". Nothing for constants, labels and `off`.
std::optional<isa::RegisterRange> operand_registers(std::string_view operand);
/// "v4", "v[4:5]", "a0", "s[0:3]", "vcc".
std::string register_text(const isa::RegisterRange& range);

/// The operand with a sign turned: "v1" and "-v1", "1.0" and "-1.0".
std::string negated(std::string_view operand);

/// `operand` with registers [from.first, +count) renamed to those of `to` (same file and count). Operands that do not
/// lie wholly inside `from` come back unchanged.
std::string renamed(std::string_view operand, const isa::RegisterRange& from, const isa::RegisterRange& to);

} // namespace asmevo::search::rewrite
