#include "search/drivers/rewrite/operand.h"

#include <array>
#include <charconv>
#include <fmt/format.h>

namespace asmevo::search::rewrite {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct NamedRegister {
  std::string_view name;
  isa::RegisterRange range;
};
constexpr std::array named_registers = {
    NamedRegister{"vcc", {isa::File::sgpr, isa::vcc_lo, 2}},
    NamedRegister{"vcc_lo", {isa::File::sgpr, isa::vcc_lo, 1}},
    NamedRegister{"vcc_hi", {isa::File::sgpr, isa::vcc_hi, 1}},
    NamedRegister{"exec", {isa::File::sgpr, isa::exec_lo, 2}},
    NamedRegister{"exec_lo", {isa::File::sgpr, isa::exec_lo, 1}},
    NamedRegister{"exec_hi", {isa::File::sgpr, isa::exec_hi, 1}},
    NamedRegister{"m0", {isa::File::sgpr, isa::m0, 1}},
    NamedRegister{"flat_scratch", {isa::File::sgpr, isa::flat_scratch_lo, 2}},
    NamedRegister{"xnack_mask", {isa::File::sgpr, isa::xnack_mask_lo, 2}},
};

std::optional<isa::File> file_of(char letter) {
  switch (letter) {
  case 's':
    return isa::File::sgpr;
  case 'v':
    return isa::File::vgpr;
  case 'a':
    return isa::File::agpr;
  default:
    return std::nullopt;
  }
}

/// A decimal number at the start of `text`, which loses it.
std::optional<uint16_t> take_number(std::string_view& text) {
  uint16_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(size_t(end - text.data()));
  return value;
}

/// Where the bare register sits in an operand that may carry "-", "|...|" or, under SDWA, "sext(...)".
std::string_view bare(std::string_view operand) {
  operand = trimmed(operand);
  if (operand.starts_with('-')) operand.remove_prefix(1);
  if (operand.starts_with('|') && operand.ends_with('|') && operand.size() > 2)
    operand = operand.substr(1, operand.size() - 2);
  if (constexpr std::string_view extended = "sext("; operand.starts_with(extended) && operand.ends_with(')'))
    operand = operand.substr(extended.size(), operand.size() - extended.size() - 1);
  return operand;
}

} // namespace

InstructionText parse_instruction(std::string_view line) {
  line = trimmed(line);
  InstructionText text;
  size_t space = line.find(' ');
  text.mnemonic = line.substr(0, space);
  if (space == std::string_view::npos) return text;
  std::string_view rest = trimmed(line.substr(space));
  for (;;) {
    // An operand ends at a comma outside brackets; the last one at a space outside brackets, where modifiers begin.
    size_t end = 0;
    int depth = 0;
    while (end < rest.size() && (depth > 0 || (rest[end] != ',' && rest[end] != ' '))) {
      depth += (rest[end] == '[') + (rest[end] == '(') - (rest[end] == ']') - (rest[end] == ')');
      ++end;
    }
    text.operands.emplace_back(rest.substr(0, end));
    bool more = end < rest.size() && rest[end] == ',';
    rest = end < rest.size() ? rest.substr(end + more) : std::string_view{};
    if (!more) break;
    rest = trimmed(rest);
  }
  text.modifiers = rest;
  return text;
}

std::string write_instruction(const InstructionText& text) {
  std::string line = text.mnemonic;
  for (size_t i = 0; i < text.operands.size(); ++i) line += (i ? ", " : " ") + text.operands[i];
  return line + text.modifiers;
}

std::string_view base_mnemonic(std::string_view mnemonic) {
  for (std::string_view suffix : {"_e32", "_e64", "_sdwa", "_dpp"})
    if (mnemonic.ends_with(suffix)) return mnemonic.substr(0, mnemonic.size() - suffix.size());
  return mnemonic;
}

std::optional<isa::RegisterRange> operand_registers(std::string_view operand) {
  operand = bare(operand);
  for (const NamedRegister& named : named_registers)
    if (operand == named.name) return named.range;
  if (operand.size() < 2) return std::nullopt;
  auto file = file_of(operand.front());
  if (!file) return std::nullopt;
  operand.remove_prefix(1);
  bool bracket = operand.starts_with('[');
  if (bracket) operand.remove_prefix(1);
  auto first = take_number(operand);
  if (!first) return std::nullopt;
  if (!bracket) return operand.empty() ? std::optional(isa::RegisterRange{*file, *first, 1}) : std::nullopt;
  if (operand == "]") return isa::RegisterRange{*file, *first, 1};
  if (!operand.starts_with(':')) return std::nullopt;
  operand.remove_prefix(1);
  auto last = take_number(operand);
  if (!last || operand != "]" || *last < *first) return std::nullopt;
  return isa::RegisterRange{*file, *first, uint16_t(*last - *first + 1)};
}

std::string register_text(const isa::RegisterRange& range) {
  for (const NamedRegister& named : named_registers)
    if (range == named.range) return std::string(named.name);
  char letter = range.file == isa::File::sgpr ? 's' : range.file == isa::File::vgpr ? 'v' : 'a';
  if (range.count == 1) return fmt::format("{}{}", letter, range.first);
  return fmt::format("{}[{}:{}]", letter, range.first, range.first + range.count - 1);
}

std::string negated(std::string_view operand) {
  operand = trimmed(operand);
  return operand.starts_with('-') ? std::string(operand.substr(1)) : "-" + std::string(operand);
}

std::string renamed(std::string_view operand, const isa::RegisterRange& from, const isa::RegisterRange& to) {
  auto range = operand_registers(operand);
  if (!range || range->file != from.file || range->first < from.first ||
      range->first + range->count > from.first + from.count)
    return std::string(operand);
  isa::RegisterRange moved{to.file, uint16_t(to.first + (range->first - from.first)), range->count};
  std::string text(operand);
  std::string_view inner = bare(text);
  return text.replace(size_t(inner.data() - text.data()), inner.size(), register_text(moved));
}

} // namespace asmevo::search::rewrite
