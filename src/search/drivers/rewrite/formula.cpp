#include "search/drivers/rewrite/formula.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace asmevo::search::rewrite {

namespace {

bool moves_a_constant(const isa::Instruction& i) {
  constexpr std::array names = {"v_mov_b32", "s_mov_b32", "s_movk_i32"};
  return i.suffix == isa::Suffix::none && std::ranges::find(names, isa::name_of(i)) != names.end();
}

/// The only instruction of the function that writes a register that holds nothing when the function begins.
std::optional<size_t> only_definition(const Facts& facts, const isa::RegisterRange& range) {
  if ((analysis::set_of({range}) & facts.live_before(facts.function.first)).any()) return std::nullopt;
  std::optional<size_t> found;
  for (size_t item = facts.function.first; item < facts.function.last; ++item) {
    if (!facts.is_instruction(item)) continue;
    if (analysis::is_call(facts.instruction(item))) return std::nullopt;
    if (!writes(facts.instruction(item), range)) continue;
    if (found) return std::nullopt;
    found = item;
  }
  return found;
}

} // namespace

std::optional<uint32_t> constant_bits(std::string_view text) {
  const auto whole = [&](auto& value, std::string_view digits, auto... base) {
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, base...);
    return result.ec == std::errc() && result.ptr == digits.data() + digits.size();
  };
  uint32_t bits = 0;
  if (text.starts_with("0x")) return whole(bits, text.substr(2), 16) ? std::optional(bits) : std::nullopt;
  if (int32_t number = 0; whole(number, text, 10)) return uint32_t(number);
  if (float number = 0; text.find('.') != text.npos && whole(number, text)) return std::bit_cast<uint32_t>(number);
  return std::nullopt;
}

std::optional<Line> Formula::made_by(const Value& value, std::string_view mnemonic) {
  auto line = definition_line(facts_, block_, value.item, value.operand, mnemonic);
  if (!line || value.operand.find_first_of("-|") != std::string::npos || !line->text.modifiers.empty() ||
      facts_.instruction(line->item).suffix != isa::Suffix::none)
    return std::nullopt;
  earliest_ = std::min(earliest_, line->item);
  return line;
}

bool Formula::is(const Value& value, uint32_t constant) const {
  if (const auto bits = constant_bits(value.operand)) return *bits == constant;
  const auto range = operand_registers(value.operand);
  if (!range || range->count != 1 || value.operand != register_text(*range)) return false;
  auto item = definition_of(facts_, block_, value.item, *range);
  if (!item) item = only_definition(facts_, *range);
  if (!item || !moves_a_constant(facts_.instruction(*item))) return false;
  const InstructionText text = parse_instruction(facts_.program.items[*item].text);
  return text.operands.size() == 2 && text.modifiers.empty() && constant_bits(text.operands[1]) == constant;
}

bool Formula::same(const Value& a, const Value& b) const {
  const auto range = operand_registers(a.operand);
  return range && a.operand == b.operand &&
         definition_of(facts_, block_, a.item, *range) == definition_of(facts_, block_, b.item, *range);
}

std::optional<Formula::Choice> Formula::choice_at(size_t item) const {
  const InstructionText text = parse_instruction(facts_.program.items[item].text);
  if (facts_.instruction(item).suffix != isa::Suffix::none || text.operands.size() < 3 || !text.modifiers.empty())
    return std::nullopt;
  return Choice{item, text.operands[0], {item, text.operands[1]}, {item, text.operands[2]}, {item, condition_of(text)}};
}

std::optional<Formula::Choice> Formula::choice(const Value& value) {
  const auto line = made_by(value, "v_cndmask_b32");
  return line ? choice_at(line->item) : std::nullopt;
}

std::optional<Value> Formula::compared(const Value& mask, std::string_view mnemonic, uint32_t constant) {
  const auto line = made_by(mask, mnemonic);
  if (!line || line->text.operands.size() != 3 || !is({line->item, line->text.operands[1]}, constant))
    return std::nullopt;
  return Value{line->item, line->text.operands[2]};
}

std::optional<Value> Formula::times(const Value& value, uint32_t constant) {
  const auto line = made_by(value, "v_mul_f32");
  if (!line || line->text.operands.size() != 3) return std::nullopt;
  for (const size_t k : {1u, 2u})
    if (is({line->item, line->text.operands[k]}, constant)) return Value{line->item, line->text.operands[3 - k]};
  return std::nullopt;
}

std::optional<Formula::Fma> Formula::fma(const Value& value) {
  for (const std::string_view name : {"v_fma_f32", "v_fmamk_f32"})
    if (const auto line = made_by(value, name); line && line->text.operands.size() == 4)
      return Fma{{line->item, line->text.operands[1]},
                 {line->item, line->text.operands[2]},
                 {line->item, line->text.operands[3]}};
  if (const auto line = made_by(value, "v_fmac_f32"); line && line->text.operands.size() == 3)
    return Fma{{line->item, line->text.operands[1]},
               {line->item, line->text.operands[2]},
               {line->item, line->text.operands[0]}};
  return std::nullopt;
}

bool Formula::is_product(const Fma& f, const Value& y, uint32_t constant) const {
  return (same(f.a, y) && is(f.b, constant)) || (same(f.b, y) && is(f.a, constant));
}

bool Formula::is_rest(const Value& value, const Value& y, uint32_t high, uint32_t low, const Value& product) {
  const auto outer = fma(value);
  if (!outer || !is_product(*outer, y, low)) return false;
  const auto inner = fma(outer->c);
  if (!inner || !is_product(*inner, y, high) || !inner->c.operand.starts_with('-')) return false;
  return same({inner->c.item, inner->c.operand.substr(1)}, product);
}

} // namespace asmevo::search::rewrite
