// Multiplications that cost four times what they need to.
//
// v_mul_lo_u32 runs at a quarter of the rate of other arithmetic. By a power of two it is a shift, by the sum or the
// difference of two of them a shift and an addition, and where both factors are known to fit 24 bits, v_mul_u32_u24
// gives the same. v_mad_u64_u32 whose upper half and carry nobody wants is the same with a sum behind it.
#include "search/drivers/rewrite/known_values.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>
#include <bit>

namespace asmevo::search::rewrite {

namespace {

bool is_vgpr(std::string_view operand) {
  const auto range = operand_registers(operand);
  return range && range->file == isa::File::vgpr && range->count == 1 && register_text(*range) == operand;
}

/// A number that is two to the power of `high` plus or minus two to the power of `low`.
struct Powers {
  unsigned high = 0, low = 0;
};

std::optional<Powers> sum_of_powers(uint32_t n) {
  if (std::popcount(n) != 2) return std::nullopt;
  return Powers{31u - unsigned(std::countl_zero(n)), unsigned(std::countr_zero(n))};
}

/// `high` may be 32, which is nothing.
std::optional<Powers> difference_of_powers(uint32_t n) {
  const unsigned low = unsigned(std::countr_zero(n));
  const uint64_t high = uint64_t{n} + (uint64_t{1} << low);
  if (n == 0 || !std::has_single_bit(high)) return std::nullopt;
  return Powers{unsigned(std::countr_zero(high)), low};
}

std::string shifted(const std::string& to, unsigned by) {
  return by == 0 ? "" : fmt::format("v_lshlrev_b32_e32 {0}, {1}, {0}\n", to, by);
}

/// Lines for `to` = `x` * `n` of VGPRs that cost less than the multiplication; nothing where there are none.
std::optional<std::string> multiplied(const std::string& to, const std::string& x, uint32_t n) {
  if (n == 0) return fmt::format("v_mov_b32_e32 {}, 0\n", to);
  if (std::has_single_bit(n))
    return n == 1 ? fmt::format("v_mov_b32_e32 {}, {}\n", to, x)
                  : fmt::format("v_lshlrev_b32_e32 {}, {}, {}\n", to, std::countr_zero(n), x);
  if (const auto sum = sum_of_powers(n))
    return fmt::format("v_lshl_add_u32 {0}, {1}, {2}, {1}\n", to, x, sum->high - sum->low) + shifted(to, sum->low);
  const auto difference = difference_of_powers(n);
  if (!difference) return std::nullopt;
  if (difference->high == 32) return fmt::format("v_sub_u32_e32 {}, 0, {}\n", to, x) + shifted(to, difference->low);
  if (to == x) return std::nullopt; // it is wanted twice
  return fmt::format("v_lshlrev_b32_e32 {0}, {2}, {1}\nv_sub_u32_e32 {0}, {0}, {1}\n", to, x,
                     difference->high - difference->low) +
         shifted(to, difference->low);
}

class Reduction {
public:
  Reduction(const Facts& facts, const analysis::Liveness& wanted, const analysis::Block& block)
      : facts_(facts), wanted_(wanted), block_(block) {}

  std::optional<std::string> lines(size_t item) const {
    const isa::Instruction& i = facts_.instruction(item);
    if (facts_.program.items[item].raw || i.traits.relative || i.suffix != isa::Suffix::none) return std::nullopt;
    const InstructionText text = parse_instruction(facts_.program.items[item].text);
    if (!text.modifiers.empty()) return std::nullopt;
    const std::string_view name = isa::name_of(i);
    if (name == "v_mul_lo_u32" && text.operands.size() == 3) return product(item, text);
    if (name == "v_mad_u64_u32" && text.operands.size() == 5) return product_and_sum(item, i, text);
    if (name == "s_mul_i32" && text.operands.size() == 3) return scalar_product(item, text);
    return std::nullopt;
  }

private:
  std::optional<uint32_t> constant(size_t item, const std::string& operand) const {
    return known_constant(facts_, block_, item, operand);
  }
  bool fit_24_bits(size_t item, const std::string& a, const std::string& b) const {
    return bits_of(facts_, block_, item, a) <= 24 && bits_of(facts_, block_, item, b) <= 24;
  }
  bool is_wanted(size_t item, const isa::RegisterRange& range) const {
    return (analysis::set_of({range}) & wanted_.after[item - facts_.function.first]).any();
  }

  std::optional<std::string> product(size_t item, const InstructionText& text) const {
    for (const auto& [factor, x] : {std::pair{1, 2}, std::pair{2, 1}})
      if (const auto n = constant(item, text.operands[size_t(factor)]); n && is_vgpr(text.operands[size_t(x)]))
        if (auto lines = multiplied(text.operands[0], text.operands[size_t(x)], *n)) return lines;
    if (!fit_24_bits(item, text.operands[1], text.operands[2])) return std::nullopt;
    return fmt::format("v_mul_u32_u24_e64 {}, {}, {}\n", text.operands[0], text.operands[1], text.operands[2]);
  }

  std::optional<std::string> product_and_sum(size_t item, const isa::Instruction& i,
                                             const InstructionText& text) const {
    if (i.defs.size() != 2 || i.defs[0].file != isa::File::vgpr || i.defs[0].count != 2) return std::nullopt;
    const isa::RegisterRange low{isa::File::vgpr, i.defs[0].first, 1},
        high{isa::File::vgpr, uint16_t(low.first + 1), 1};
    if (is_wanted(item, high) || is_wanted(item, i.defs[1])) return std::nullopt;
    std::string added = text.operands[4];
    if (const auto range = operand_registers(added)) {
      if (range->count != 2 || register_text(*range) != added) return std::nullopt;
      added = register_text({range->file, range->first, 1});
    } else if (const auto number = constant(item, added); !number || *number > 64) {
      return std::nullopt;
    }
    const std::string to = register_text(low);
    for (const auto& [factor, x] : {std::pair{2, 3}, std::pair{3, 2}})
      if (const auto n = constant(item, text.operands[size_t(factor)]); n && std::has_single_bit(*n))
        return fmt::format("v_lshl_add_u32 {}, {}, {}, {}\n", to, text.operands[size_t(x)], std::countr_zero(*n),
                           added);
    if (!fit_24_bits(item, text.operands[2], text.operands[3])) return std::nullopt;
    return fmt::format("v_mad_u32_u24 {}, {}, {}, {}\n", to, text.operands[2], text.operands[3], added);
  }

  std::optional<std::string> scalar_product(size_t item, const InstructionText& text) const {
    for (const auto& [factor, x] : {std::pair{1, 2}, std::pair{2, 1}}) {
      const auto n = constant(item, text.operands[size_t(factor)]);
      const std::string& other = text.operands[size_t(x)];
      if (!n || !operand_registers(other)) continue;
      if (*n == 0) return fmt::format("s_mov_b32 {}, 0\n", text.operands[0]);
      if (*n == 1) return fmt::format("s_mov_b32 {}, {}\n", text.operands[0], other);
      if (facts_.live_after(item)[analysis::scc_unit]) continue; // shifts set it
      if (std::has_single_bit(*n))
        return fmt::format("s_lshl_b32 {}, {}, {}\n", text.operands[0], other, std::countr_zero(*n));
    }
    return std::nullopt;
  }

  const Facts& facts_;
  const analysis::Liveness& wanted_;
  const analysis::Block& block_;
};

} // namespace

std::vector<Idea> strength_reduction(const Facts& facts) {
  const analysis::Liveness wanted =
      analysis::liveness(facts.program, facts.function, facts.graph, analysis::Readers::wanted);
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks) {
    if (indexes_registers(facts, block)) continue;
    const Reduction reduction(facts, wanted, block);
    Idea idea{.promise = facts.heat_of(block.first, block.last)};
    for (size_t item = block.first; item < block.last; ++item) {
      if (!facts.is_instruction(item)) continue;
      const auto lines = reduction.lines(item);
      if (lines && facts.codec.assemble(*lines)) idea.edits.push_back({item, item + 1, *lines});
    }
    if (idea.edits.empty()) continue;
    idea.rationale = fmt::format("{} multiplications by cheaper instructions", idea.edits.size());
    ideas.push_back(std::move(idea));
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
