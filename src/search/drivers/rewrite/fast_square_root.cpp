// Precise f32 square root is sixteen instructions.
//
// v_sqrt_f32 is good to about one ulp and flushes denormals, so compilers scale small arguments by 2^32, try the root's
// neighbours one ulp each way, scale back and patch zero and infinity. Within a tolerance the bare instruction is
// enough. The sequence is found from its end: a select by v_cmp_class of a value that was itself selected between x and
// x·2^32.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

namespace asmevo::search::rewrite {

namespace {

/// The end of a precise square root: select(root, x', class(x', 0 | inf)), with x' = select(x, x·2^32, small).
std::optional<std::pair<recover::Edit, recover::Edit>> bare_root(const Facts& facts, const analysis::Block& block,
                                                                 size_t item) {
  InstructionText last = parse_instruction(facts.program.items[item].text);
  if (last.operands.size() < 3) return std::nullopt;
  const std::string& x = last.operands[2];
  if (!defined_by(facts, block, item, condition_of(last), "v_cmp_class_f32")) return std::nullopt;
  auto scaled = definition_line(facts, block, item, x, "v_cndmask_b32");
  if (!scaled || scaled->text.operands.size() < 3) return std::nullopt;
  auto product = definition_line(facts, block, scaled->item, scaled->text.operands[2], "v_mul_f32");
  if (!product || product->text.operands.size() != 3) return std::nullopt;
  bool by_two_to_32 = product->text.operands[1] == "0x4f800000" || product->text.operands[2] == "0x4f800000";
  if (!by_two_to_32) return std::nullopt;
  return std::pair{recover::Edit{scaled->item, scaled->item + 1,
                                 fmt::format("v_mov_b32 {}, {}\n", scaled->text.operands[0], scaled->text.operands[1])},
                   recover::Edit{item, item + 1, fmt::format("v_sqrt_f32 {}, {}\n", last.operands[0], x)}};
}

} // namespace

std::vector<Idea> fast_square_root(const Facts& facts) {
  return replace_pairs(facts, "v_cndmask_b32", bare_root, "square root by v_sqrt_f32 alone");
}

} // namespace asmevo::search::rewrite
