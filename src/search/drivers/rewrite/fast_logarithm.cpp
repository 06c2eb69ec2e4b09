// Logarithms as the hardware computes them.
//
// v_log_f32 takes denormal arguments for zero and is a logarithm to base 2. Compilers scale small arguments up by 2^32
// and take the exponent off again, and multiply by ln 2 or lg 2 in two parts:
//
//     l = log2(ldexp(x, small ? 32 : 0)); r = (|l| < inf ? l * high + (fma(l, high, -l * high) + l * low) : l)
//     r - (small ? 32 * ln 2 : 0)
//
// Where the comparison policy has a tolerance, one multiplication is enough, and the guard is for arguments that such
// results do not come from. The sequence is found from its end.
#include "search/drivers/rewrite/formula.h"
#include "search/drivers/rewrite/rules.h"

#include <array>

namespace asmevo::search::rewrite {

namespace {

struct Base {
  uint32_t exponent;  // logarithm of 2^32
  uint32_t high, low; // logarithm of 2 in two parts; zeros for base 2
};
constexpr std::array bases = {Base{0x42000000, 0, 0}, Base{0x41b17218, 0x3f317217, 0x3377d1cf},
                              Base{0x411a209b, 0x3e9a209a, 0x3284fbcf}};
constexpr uint32_t smallest_normal = 0x800000, infinity = 0x7f800000;

recover::Edit replaced(size_t item, std::string text) { return {item, item + 1, std::move(text) + "\n"}; }

/// The logarithm to base 2 that `scaled` is a multiple of, and the edit that leaves one multiplication.
std::optional<std::pair<Line, recover::Edit>> multiple(Formula& formula, const Value& scaled, const Base& base) {
  const auto finite = formula.choice(scaled);
  if (!finite) return std::nullopt;
  const auto log = formula.made_by(finite->otherwise, "v_log_f32");
  const auto test = formula.made_by(finite->condition, "v_cmp_lt_f32");
  if (!log || !test || test->text.operands.size() != 3 ||
      test->text.operands[1] != "|" + finite->otherwise.operand + "|" ||
      !formula.same({test->item, finite->otherwise.operand}, finite->otherwise) ||
      !formula.is({test->item, test->text.operands[2]}, infinity))
    return std::nullopt;
  const auto sum = formula.made_by(finite->then, "v_add_f32");
  if (!sum || sum->text.operands.size() != 3) return std::nullopt;
  for (const size_t k : {1u, 2u}) {
    const Value product{sum->item, sum->text.operands[k]}, rest{sum->item, sum->text.operands[3 - k]};
    const auto factor = formula.times(product, base.high);
    if (factor && formula.same(*factor, finite->otherwise) &&
        formula.is_rest(rest, *factor, base.high, base.low, product))
      return std::pair{*log, replaced(finite->item, fmt::format("v_mul_f32 {}, {:#x}, {}", finite->result, base.high,
                                                                finite->otherwise.operand))};
  }
  return std::nullopt;
}

std::vector<recover::Edit> bare(const Facts& facts, const analysis::Block& block, size_t item, const Base& base) {
  Formula formula(facts, block);
  const InstructionText end = parse_instruction(facts.program.items[item].text);
  if (end.operands.size() != 3 || !end.modifiers.empty()) return {};
  const Value scaled{item, end.operands[1]};
  const auto exponent = formula.choice({item, end.operands[2]});
  if (!exponent || !formula.is(exponent->otherwise, 0) || !formula.is(exponent->then, base.exponent)) return {};
  std::vector<recover::Edit> edits;
  std::optional<Line> log;
  if (base.high == 0) {
    log = formula.made_by(scaled, "v_log_f32");
  } else if (auto found = multiple(formula, scaled, base)) {
    log = std::move(found->first);
    edits.push_back(std::move(found->second));
  }
  if (!log || log->text.operands.size() != 2) return {};
  const auto shifted = formula.made_by({log->item, log->text.operands[1]}, "v_ldexp_f32");
  if (!shifted || shifted->text.operands.size() != 3) return {};
  const auto shift = formula.choice({shifted->item, shifted->text.operands[2]});
  if (!shift || !formula.is(shift->otherwise, 0) || !formula.is(shift->then, 32) ||
      !formula.same(shift->condition, exponent->condition))
    return {};
  const auto argument = formula.compared(shift->condition, "v_cmp_gt_f32", smallest_normal);
  if (!argument || !formula.same(*argument, {shifted->item, shifted->text.operands[1]}) ||
      !formula.ran_with_the_lanes_of(item))
    return {};
  edits.insert(edits.begin(), replaced(shifted->item, fmt::format("v_mov_b32 {}, {}", shifted->text.operands[0],
                                                                  shifted->text.operands[1])));
  edits.push_back(replaced(item, fmt::format("v_mov_b32 {}, {}", end.operands[0], end.operands[1])));
  return edits;
}

} // namespace

std::vector<Idea> fast_logarithm(const Facts& facts) {
  return replace_sequences(
      facts, "v_sub_f32",
      [](const Facts& f, const analysis::Block& block, size_t item) {
        for (const Base& base : bases)
          if (auto edits = bare(f, block, item, base); !edits.empty()) return edits;
        return std::vector<recover::Edit>();
      },
      "logarithm as the hardware computes it");
}

} // namespace asmevo::search::rewrite
