#include "search/drivers/rewrite/steppers.h"

#include "analysis/reaching.h"
#include "search/drivers/rewrite/counted_loop.h"
#include "search/drivers/rewrite/local.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace asmevo::search::rewrite {

namespace {

/// Offsets that an address can have: global and flat-encoded ones have 13 bits and a sign from GFX9 on, those of LDS 16
/// without. Source: CDNA3 ISA manual, chapters "Flat Memory Instructions" and "Data Share".
struct Reach {
  int64_t low, high;
};
constexpr Reach global{-4096, 4095}, shared{0, 65535};

/// Which operand of a plain load or store is its address; nothing for others.
std::optional<size_t> address_operand(const isa::Instruction& i, const InstructionText& text) {
  const std::string_view name = isa::name_of(i);
  const bool is_global = i.encoding == isa::Encoding::global, is_shared = i.encoding == isa::Encoding::ds;
  if (!(is_global || is_shared) || i.traits.atomic || i.traits.side_effects) return std::nullopt;
  if (is_shared && !name.starts_with("ds_read_") && !name.starts_with("ds_write_")) return std::nullopt;
  if (is_global && (text.operands.empty() || text.operands.back() != "off")) return std::nullopt;
  if (name.find("lds") != name.npos || name.find("addtid") != name.npos || name.find("_tr") != name.npos)
    return std::nullopt;
  return i.traits.may_load ? 1 : 0;
}

int64_t offset_of(const InstructionText& text) {
  const size_t at = text.modifiers.find(" offset:");
  int64_t value = 0;
  if (at != std::string::npos)
    std::from_chars(text.modifiers.data() + at + 8, text.modifiers.data() + text.modifiers.size(), value);
  return value;
}

/// The constant that a 64-bit scalar operand holds before `item`.
std::optional<int64_t> wide_constant(const Facts& facts, const analysis::Reaching& reaching, size_t item,
                                     const std::string& operand) {
  if (const auto value = constant_of(operand)) return value;
  const auto range = operand_registers(operand);
  if (!range || range->file != isa::File::sgpr || range->count != 2) return std::nullopt;
  const auto at = reaching.sole_definition(item, analysis::bit_of(isa::File::sgpr, range->first)),
             high = reaching.sole_definition(item, analysis::bit_of(isa::File::sgpr, uint16_t(range->first + 1)));
  if (!at || at != high || *at == analysis::Reaching::entry) return std::nullopt;
  const InstructionText text = parse_instruction(facts.program.items[*at].text);
  if (text.mnemonic != "s_mov_b64" || text.operands.size() != 2 || text.operands[0] != operand) return std::nullopt;
  const auto value = constant_of(text.operands[1]);
  return value && *value > 0 ? value : std::nullopt; // how a negative literal is widened need not be known
}

/// An addition of a constant to a register, in one of the two forms that addresses have.
std::optional<Stepper> addition(const Facts& facts, const analysis::Reaching& reaching, size_t item) {
  const InstructionText text = parse_instruction(facts.program.items[item].text);
  Stepper stepper{.item = item};
  const bool wide = text.mnemonic == "v_lshl_add_u64";
  if (wide && text.operands.size() == 4 && text.operands[1] == text.operands[0] && text.operands[2] == "0") {
    stepper.amount = text.operands[3];
    const auto by = wide_constant(facts, reaching, item, stepper.amount);
    if (!by || *by <= 0) return std::nullopt;
    stepper.by = *by;
  } else if (base_mnemonic(text.mnemonic) == "v_add_u32" && text.operands.size() == 3 &&
             text.operands[2] == text.operands[0]) {
    stepper.amount = text.operands[1];
    const auto by = constant_of(stepper.amount);
    if (!by || *by <= 0) return std::nullopt;
    stepper.by = *by;
  } else {
    return std::nullopt;
  }
  const auto range = operand_registers(text.operands[0]);
  if (!range || range->file != isa::File::vgpr || range->count != (wide ? 2 : 1)) return std::nullopt;
  stepper.range = *range;
  return stepper;
}

/// Finds the uses; false where one is no plain address or `times` iterations are too far.
bool find_uses(const Facts& facts, const analysis::Block& block, uint64_t times, Stepper& stepper) {
  for (size_t item = block.first; item < block.last; ++item) {
    if (!facts.is_instruction(item) || item == stepper.item) continue;
    const isa::Instruction& i = facts.instruction(item);
    if (writes(i, stepper.range)) return false;
    if (!reads(i, stepper.range)) continue;
    const InstructionText text = parse_instruction(facts.program.items[item].text);
    const auto address = address_operand(i, text);
    if (!address || *address >= text.operands.size()) return false;
    for (size_t k = 0; k < text.operands.size(); ++k) {
      const auto range = operand_registers(text.operands[k]);
      const bool named = range && range->overlaps(stepper.range);
      if (named != (k == *address) || (named && *range != stepper.range)) return false;
    }
    const Reach reach = i.encoding == isa::Encoding::ds ? shared : global;
    const int64_t offset = offset_of(text),
                  farthest = offset + stepper.by * int64_t(times - (item > stepper.item ? 0 : 1));
    if (offset < reach.low || farthest > reach.high) return false;
    stepper.uses.push_back(item);
  }
  return !stepper.uses.empty();
}

/// The even ones of pairs of VGPRs that nothing in the block needs, the highest first.
std::vector<uint16_t> free_pairs(const Facts& facts, const analysis::Block& block) {
  std::vector<uint16_t> free;
  for (uint32_t v = facts.vgpr_budget & ~1u; v >= 2; v -= 2)
    if (const isa::RegisterRange pair{isa::File::vgpr, uint16_t(v - 2), 2}; is_free(facts, block, pair))
      free.push_back(pair.first);
  return free;
}

} // namespace

std::string Stepper::start() const {
  if (!second) return {};
  return fmt::format("v_lshl_add_u64 {}, {}, {}, {}\n", register_text(*second), amount, std::countr_zero(half),
                     register_text(range));
}

std::string Stepper::step(uint64_t times) const {
  const std::string r = register_text(range);
  if (range.count == 2) return fmt::format("v_lshl_add_u64 {0}, {1}, {2}, {0}\n", r, amount, std::countr_zero(times));
  return fmt::format("v_add_u32_e32 {0}, {1:#x}, {0}\n", r, uint32_t(by * int64_t(times)));
}

int64_t Stepper::offset(size_t use, const InstructionText& text) const {
  return offset_of(text) + (use > item ? by : 0);
}

InstructionText Stepper::later(size_t use, InstructionText text, uint64_t iterations) const {
  if (second && iterations >= half) {
    for (std::string& operand : text.operands)
      if (operand_registers(operand) == std::optional(range)) operand = register_text(*second);
    iterations -= half;
  }
  const int64_t offset = this->offset(use, text) + by * int64_t(iterations);
  if (const size_t at = text.modifiers.find(" offset:"); at != std::string::npos) {
    const size_t end = text.modifiers.find(' ', at + 1);
    text.modifiers.erase(at, end == std::string::npos ? end : end - at);
  }
  if (offset != 0) text.modifiers = fmt::format(" offset:{}", offset) + text.modifiers;
  return text;
}

std::vector<Stepper> steppers(const Facts& facts, const analysis::Block& block, uint64_t times) {
  const analysis::Reaching reaching(facts.program, facts.function, facts.graph);
  std::vector<Stepper> found;
  std::vector<uint16_t> free = free_pairs(facts, block);
  for (size_t item = block.first; item < block.last; ++item) {
    if (!facts.is_instruction(item)) continue;
    const auto stepper = addition(facts, reaching, item);
    if (!stepper) continue;
    if (Stepper one = *stepper; find_uses(facts, block, times, one)) {
      found.push_back(std::move(one));
    } else if (Stepper two = *stepper;
               times > 2 && two.range.count == 2 && !free.empty() && find_uses(facts, block, times / 2, two)) {
      two.second = isa::RegisterRange{isa::File::vgpr, free.back(), 2};
      two.half = times / 2;
      free.pop_back();
      found.push_back(std::move(two));
    }
  }
  return found;
}

} // namespace asmevo::search::rewrite
