#include "search/drivers/superopt/lines.h"

#include "search/drivers/rewrite/operand.h"

#include <charconv>

namespace asmevo::search::superopt {
namespace {

using isa::File;
using isa::RegisterRange;

std::optional<uint32_t> number_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view digits = negative ? text.substr(1) : text;
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return negative ? 0 - value : value;
}

/// Registers that a window may name: no EXEC, M0 and the like.
bool is_plain(const RegisterRange& range) {
  if (range.file == File::vgpr) return true;
  constexpr uint16_t last_sgpr = 101;
  return range.file == File::sgpr && (range.first + range.count - 1 <= last_sgpr ||
                                      (range.first >= isa::vcc_lo && range.first + range.count <= isa::vcc_hi + 1));
}

std::optional<Source> source_of(const std::string& text, Type type) {
  const bool dressed = text.starts_with('-') && text.size() > 1 && (text[1] < '0' || text[1] > '9');
  if (dressed || text.starts_with('|')) return std::nullopt;
  const auto range = rewrite::operand_registers(text);
  if (!range) {
    const auto number = number_of(text);
    // How a literal is widened depends on the instruction.
    if (!number || type == Type::bit || (type == Type::wide && !is_inline(*number))) return std::nullopt;
    return Source{.range = std::nullopt, .constant = *number};
  }
  if (!is_plain(*range) || range->count != (type == Type::word ? 1 : 2)) return std::nullopt;
  return Source{.range = range};
}

} // namespace

Line taken_apart(const recover::Item& item, Opcodes& opcodes) {
  const isa::Instruction& i = item.instruction;
  if (item.raw || !item.target.empty() || i.suffix != isa::Suffix::none || i.traits.relative) return {};
  const Opcode* opcode = opcodes.of(i);
  if (!opcode) return {};
  const rewrite::InstructionText text = rewrite::parse_instruction(item.text);
  if (!text.modifiers.empty()) return {};
  Line line{.opcode = opcode};
  const bool vector = opcode->unit == Unit::vector;
  const bool immediate = i.encoding == isa::Encoding::sopk;
  size_t at = 0;
  const auto written = [&](Type type) -> std::optional<RegisterRange> {
    if (at >= text.operands.size()) return std::nullopt;
    const auto range = rewrite::operand_registers(text.operands[at++]);
    const bool fits = range && is_plain(*range) && range->count == (type == Type::word ? 1 : 2);
    return fits ? range : std::nullopt;
  };
  if (opcode->result != Type::none && !(line.result = written(opcode->result))) return {};
  if (vector && opcode->second != Type::none && !(line.second = written(opcode->second))) return {};
  if (!vector && opcode->second != Type::none) line.second = scc;
  uint8_t count = opcode->count - (opcode->reads_scc ? 1 : 0);
  uint8_t k = 0;
  if (immediate && isa::name_of(i) != "s_movk_i32") { // the destination is the first source
    if (!opcode->scalar || opcode->result == Type::none || !opcode->scalar->reads_destination) return {};
    line.sources.push_back({.range = line.result});
    k = 1;
  } else if (opcode->scalar && opcode->scalar->reads_destination) {
    return {};
  }
  for (; k < count; ++k) {
    if (at >= text.operands.size()) return {};
    const auto source = source_of(text.operands[at++], opcode->sources[k]);
    if (!source) return {};
    line.sources.push_back(*source);
    // An immediate is 16 bits, sign-extended.
    if (immediate && !source->range) line.sources.back().constant = uint32_t(int32_t(int16_t(source->constant)));
  }
  if (at != text.operands.size()) return {};
  if (opcode->reads_scc) line.sources.push_back({.range = scc});
  return line;
}

Reader::Reader(const rewrite::Facts& facts, const analysis::Block& block, Opcodes& opcodes)
    : facts_(facts), block_(block), opcodes_(opcodes) {
  for (size_t item = block.first; item < block.last; ++item) {
    const bool here = facts.is_instruction(item);
    lines_.push_back(here ? taken_apart(facts.program.items[item], opcodes) : Line{});
    const isa::Instruction none;
    const isa::Instruction& i = here ? facts.instruction(item) : none;
    writes_.push_back(facts.liveness.registers.set_of(i.defs));
    reads_.push_back(facts.liveness.registers.set_of(i.uses));
  }
}

} // namespace asmevo::search::superopt
