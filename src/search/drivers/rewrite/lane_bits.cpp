// Conditions of lanes that go through bits of a vector register and back.
//
// Where a compiler works on two elements at once, `is either of them no number` becomes a vector of two truth values:
//
//     v_cmp_u_f32 s[2:3], v14, v14; v_cndmask_b32 v13, 0, 1, s[2:3]
//     v_cmp_u_f32 s[2:3], v15, v15; v_cndmask_b32 v14, 0, 1, s[2:3]
//     v_lshlrev_b16 v11, 1, v13; v_or_b32 v11, v14, v11; v_and_b32 v11, 3, v11; v_cmp_ne_u16 s[2:3], 0, v11
//
// But lanes are bits of a mask already, and one compare looks at two numbers: v_cmp_u_f32 s[2:3], v14, v15. All of it
// has to stand in one block under one EXEC.
#include "search/drivers/rewrite/counted_loop.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

constexpr unsigned deepest = 8; // instructions from the last condition back to a mask

/// A bit of a vector register that is one where a mask is.
struct Bit {
  unsigned position = 0;
  size_t compare = 0; // what makes the mask
  isa::RegisterRange mask;
};

class Chain {
public:
  Chain(const Facts& facts, const analysis::Liveness& wanted, const analysis::Block& block, size_t last)
      : facts_(facts), wanted_(wanted), block_(block), last_(last) {}

  /// The bits that are set in `operand` before `item`; false where it is not understood.
  bool read(size_t item, const std::string& operand, unsigned shift, unsigned width, unsigned depth = 0) {
    const auto range = operand_registers(operand);
    if (depth > deepest || !range || range->file != isa::File::vgpr || range->count != 1 ||
        register_text(*range) != operand)
      return false;
    const auto at = definition_of(facts_, block_, item, *range);
    if (!at || facts_.instruction(*at).suffix != isa::Suffix::none) return false;
    items_.push_back(*at);
    const InstructionText text = parse_instruction(facts_.program.items[*at].text);
    const std::string_view name = isa::name_of(facts_.instruction(*at));
    if (!text.modifiers.empty() || text.operands.size() < 3) return false;
    if (name == "v_cndmask_b32") return read_mask(*at, text, shift, width);
    if (name == "v_or_b32")
      return read(*at, text.operands[1], shift, width, depth + 1) &&
             read(*at, text.operands[2], shift, width, depth + 1);
    const auto constant = constant_of(text.operands[1]);
    if (!constant || *constant < 0) return false;
    if (name == "v_lshlrev_b16" || name == "v_lshlrev_b32")
      return *constant < 16 && read(*at, text.operands[2], shift + unsigned(*constant),
                                    name == "v_lshlrev_b16" ? std::min(width, 16u) : width, depth + 1);
    if (name != "v_and_b32" || depth > 0) return false; // what it keeps is said of all bits
    keeps_ = uint32_t(*constant);
    return read(*at, text.operands[2], shift, width, depth + 1);
  }

  /// The bits that are looked at.
  std::vector<Bit> bits() const {
    std::vector<Bit> kept;
    std::ranges::copy_if(bits_, std::back_inserter(kept), [&](const Bit& bit) { return keeps_ >> bit.position & 1; });
    return kept;
  }

  /// Whether only the chain reads what the chain computes, all of it under one EXEC.
  bool is_closed() const {
    size_t first = last_;
    for (const Bit& bit : bits_) first = std::min(first, bit.compare);
    if (written_between(facts_, exec, first, last_)) return false;
    return std::ranges::all_of(items_, [&](size_t item) {
      const isa::RegisterRange& result = facts_.instruction(item).defs[0];
      for (size_t at = item + 1; at < block_.last; ++at) {
        if (!facts_.is_instruction(at)) continue;
        const isa::Instruction& i = facts_.instruction(at);
        if (at != last_ && !has(at) && reads(i, result)) return false;
        if (writes(i, exec)) break;
        if (i.defs.size() == 1 && i.defs[0] == result) return true;
      }
      return !wanted_.after[block_.last - 1 - facts_.function.first][wanted_.registers.first_of(result)];
    });
  }

  bool has(size_t item) const { return std::ranges::find(items_, item) != items_.end(); }
  const std::vector<size_t>& items() const { return items_; }

  /// Whether `range` is before the last condition what it was at `item`, once the chain is gone.
  bool stays(const isa::RegisterRange& range, size_t item) const {
    for (size_t at = item + 1; at < last_; ++at)
      if (facts_.is_instruction(at) && !has(at) && writes(facts_.instruction(at), range)) return false;
    return true;
  }

private:
  bool read_mask(size_t item, const InstructionText& text, unsigned shift, unsigned width) {
    if (text.operands[1] != "0" || text.operands[2] != "1") return false;
    const auto mask = operand_registers(condition_of(text));
    if (!mask || mask->file != isa::File::sgpr || mask->count != 2) return false;
    const auto compare = definition_of(facts_, block_, item, *mask);
    if (!compare || facts_.instruction(*compare).defs != std::vector{*mask} ||
        !isa::name_of(facts_.instruction(*compare)).starts_with("v_cmp_"))
      return false;
    if (shift < width) bits_.push_back({shift, *compare, *mask});
    return true;
  }

  const Facts& facts_;
  const analysis::Liveness& wanted_;
  const analysis::Block& block_;
  size_t last_;
  std::vector<size_t> items_;
  std::vector<Bit> bits_;
  uint32_t keeps_ = 0xffffffff;
};

/// The value that a compare finds to be no number.
std::optional<std::string> checked_number(const Facts& facts, size_t compare) {
  const InstructionText text = parse_instruction(facts.program.items[compare].text);
  if (isa::name_of(facts.instruction(compare)) != "v_cmp_u_f32" || !text.modifiers.empty() ||
      text.operands.size() != 3 || text.operands[1] != text.operands[2] ||
      facts.instruction(compare).suffix != isa::Suffix::none)
    return std::nullopt;
  const auto range = operand_registers(text.operands[1]);
  if (!range || range->file != isa::File::vgpr || register_text(*range) != text.operands[1]) return std::nullopt;
  return text.operands[1];
}

/// One instruction for the condition that either of two bits is set.
std::optional<std::string> either(const Facts& facts, const Chain& chain, const std::string& to, const Bit& a,
                                  const Bit& b) {
  const auto first = checked_number(facts, a.compare), second = checked_number(facts, b.compare);
  if (first && second && chain.stays(*operand_registers(*first), a.compare) &&
      chain.stays(*operand_registers(*second), b.compare))
    return fmt::format("v_cmp_u_f32_e64 {}, {}, {}\n", to, *first, *second);
  return std::nullopt;
}

std::optional<Idea> straight_condition(const Facts& facts, const analysis::Liveness& wanted,
                                       const analysis::Block& block, size_t item) {
  const InstructionText text = parse_instruction(facts.program.items[item].text);
  const std::string_view name = isa::name_of(facts.instruction(item));
  if (name != "v_cmp_ne_u16" && name != "v_cmp_ne_u32") return std::nullopt;
  if (text.operands.size() != 3 || text.operands[1] != "0" || !text.modifiers.empty() ||
      facts.instruction(item).suffix != isa::Suffix::none)
    return std::nullopt;
  Chain chain(facts, wanted, block, item);
  if (!chain.read(item, text.operands[2], 0, name == "v_cmp_ne_u16" ? 16 : 32) || !chain.is_closed())
    return std::nullopt;
  const std::vector<Bit> bits = chain.bits();
  if (bits.size() != 2) return std::nullopt;
  const auto line = either(facts, chain, text.operands[0], bits[0], bits[1]);
  if (!line) return std::nullopt;
  Idea idea{.rationale = "a condition of two numbers without bits in a vector register"};
  for (const size_t part : chain.items()) idea.edits.push_back({part, part + 1, ""});
  idea.edits.push_back({item, item + 1, *line});
  std::ranges::sort(idea.edits, {}, &recover::Edit::first);
  const auto twice = std::ranges::adjacent_find(idea.edits, {}, &recover::Edit::first);
  if (twice != idea.edits.end()) return std::nullopt;
  for (const recover::Edit& edit : idea.edits) idea.promise += facts.heat_of(edit.first, edit.last);
  return idea;
}

} // namespace

std::vector<Idea> lane_bits(const Facts& facts) {
  const analysis::Liveness wanted =
      analysis::liveness(facts.program, facts.function, facts.graph, analysis::Readers::wanted);
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks)
    for (size_t item = block.first; item < block.last; ++item)
      if (facts.is_instruction(item))
        if (auto idea = straight_condition(facts, wanted, block, item)) ideas.push_back(*std::move(idea));
  return ideas;
}

} // namespace asmevo::search::rewrite
