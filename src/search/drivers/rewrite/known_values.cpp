#include "search/drivers/rewrite/known_values.h"

#include "search/drivers/rewrite/counted_loop.h"

#include <algorithm>
#include <array>
#include <bit>

namespace asmevo::search::rewrite {

namespace {

constexpr unsigned all_bits = 32, deepest = 4; // definitions that are looked through

/// What an instruction leaves in a register of its own, as far as its name tells.
struct Width {
  std::string_view name;
  unsigned bits;
};
constexpr auto loaded = std::to_array<Width>({
    {"global_load_ubyte", 8},
    {"global_load_ushort", 16},
    {"flat_load_ubyte", 8},
    {"flat_load_ushort", 16},
    {"buffer_load_ubyte", 8},
    {"buffer_load_ushort", 16},
    {"scratch_load_ubyte", 8},
    {"scratch_load_ushort", 16},
    {"ds_read_u8", 8},
    {"ds_read_u16", 16},
});

/// The one register that an operand names without sign or bars.
std::optional<isa::RegisterRange> plain_register(std::string_view operand) {
  const auto range = operand_registers(operand);
  if (!range || range->count != 1 || register_text(*range) != operand) return std::nullopt;
  return range;
}

/// What wrote all of a register last, for all lanes that `item` runs in.
std::optional<Line> definition(const Facts& facts, const analysis::Block& block, size_t item,
                               const isa::RegisterRange& range) {
  const auto at = definition_of(facts, block, item, range);
  if (!at || facts.program.items[*at].raw) return std::nullopt;
  const isa::Instruction& i = facts.instruction(*at);
  if (i.defs.empty() || i.defs[0] != range || i.explicit_defs == 0 || i.suffix != isa::Suffix::none ||
      i.traits.relative)
    return std::nullopt;
  if (range.file != isa::File::sgpr && written_between(facts, exec, *at, item)) return std::nullopt;
  return Line{*at, parse_instruction(facts.program.items[*at].text)};
}

unsigned width_of(uint32_t value) { return unsigned(std::bit_width(value)); }

unsigned bits_of(const Facts& facts, const analysis::Block& block, size_t item, std::string_view operand,
                 unsigned depth) {
  if (const auto constant = known_constant(facts, block, item, operand)) return width_of(*constant);
  const auto range = plain_register(operand);
  const auto line = range && depth < deepest ? definition(facts, block, item, *range) : std::nullopt;
  if (!line) return all_bits;
  const std::string_view name = isa::name_of(facts.instruction(line->item));
  const auto& operands = line->text.operands;
  if (const auto row = std::ranges::find(loaded, name, &Width::name); row != loaded.end()) return row->bits;
  if (!line->text.modifiers.empty()) return all_bits;
  const auto bits = [&](size_t k) { return bits_of(facts, block, line->item, operands[k], depth + 1); };
  const auto constant = [&](size_t k) { return known_constant(facts, block, line->item, operands[k]); };
  if (operands.size() == 2) return name == "v_mov_b32" || name == "s_mov_b32" ? bits(1) : all_bits;
  if (name == "v_and_b32" || name == "s_and_b32") return std::min(bits(1), bits(2));
  if (name == "v_or_b32" || name == "s_or_b32") return std::max(bits(1), bits(2));
  if (name == "v_bfe_u32") {
    const auto width = constant(3);
    return width && *width < all_bits ? *width : all_bits;
  }
  const bool vector_shift = name == "v_lshrrev_b32";
  if (vector_shift || name == "s_lshr_b32") {
    const auto by = constant(vector_shift ? 1 : 2);
    const unsigned before = bits(vector_shift ? 2 : 1);
    return by && *by < all_bits ? before - std::min(before, *by) : before;
  }
  if (name == "v_lshlrev_b32" || name == "s_lshl_b32") {
    const auto by = constant(name == "v_lshlrev_b32" ? 1 : 2);
    return by && *by < all_bits ? std::min(all_bits, bits(name == "v_lshlrev_b32" ? 2 : 1) + *by) : all_bits;
  }
  return all_bits;
}

} // namespace

std::optional<uint32_t> known_constant(const Facts& facts, const analysis::Block& block, size_t item,
                                       std::string_view operand) {
  if (const auto written = constant_of(operand)) return uint32_t(*written);
  const auto range = plain_register(operand);
  const auto line = range ? definition(facts, block, item, *range) : std::nullopt;
  if (!line || line->text.operands.size() != 2 || !line->text.modifiers.empty()) return std::nullopt;
  const std::string_view name = isa::name_of(facts.instruction(line->item));
  const auto value = constant_of(line->text.operands[1]);
  if (!value) return std::nullopt;
  if (name == "v_mov_b32" || name == "s_mov_b32") return uint32_t(*value);
  if (name == "s_movk_i32") return uint32_t(int32_t(int16_t(*value)));
  return std::nullopt;
}

bool indexes_registers(const Facts& facts, const analysis::Block& block) {
  for (size_t item = block.first; item < block.last; ++item)
    if (facts.is_instruction(item) &&
        (facts.instruction(item).traits.relative || isa::name_of(facts.instruction(item)).starts_with("s_set_gpr_idx")))
      return true;
  return false;
}

unsigned bits_of(const Facts& facts, const analysis::Block& block, size_t item, std::string_view operand) {
  return bits_of(facts, block, item, operand, 0);
}

} // namespace asmevo::search::rewrite
