#include "search/drivers/rewrite/local.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

bool any_overlaps(const std::vector<isa::RegisterRange>& ranges, const isa::RegisterRange& range) {
  return std::ranges::any_of(ranges, [&](const isa::RegisterRange& r) { return r.overlaps(range); });
}

} // namespace

bool reads(const isa::Instruction& instruction, const isa::RegisterRange& range) {
  return any_overlaps(instruction.uses, range);
}

bool writes(const isa::Instruction& instruction, const isa::RegisterRange& range) {
  return any_overlaps(instruction.defs, range);
}

bool written_between(const Facts& facts, const isa::RegisterRange& range, size_t first, size_t last) {
  for (size_t item = first; item < last; ++item)
    if (facts.is_instruction(item) && writes(facts.instruction(item), range)) return true;
  return false;
}

bool read_between(const Facts& facts, const isa::RegisterRange& range, size_t first, size_t last) {
  for (size_t item = first; item < last; ++item)
    if (facts.is_instruction(item) && reads(facts.instruction(item), range)) return true;
  return false;
}

std::optional<size_t> definition_of(const Facts& facts, const analysis::Block& block, size_t item,
                                    const isa::RegisterRange& range) {
  for (size_t at = item; at-- > block.first;)
    if (facts.is_instruction(at) && writes(facts.instruction(at), range)) return at;
  return std::nullopt;
}

std::optional<size_t> defined_by(const Facts& facts, const analysis::Block& block, size_t item,
                                 std::string_view operand, std::string_view mnemonic) {
  auto range = operand_registers(operand);
  if (!range) return std::nullopt;
  auto at = definition_of(facts, block, item, *range);
  return at && isa::name_of(facts.instruction(*at)) == mnemonic ? at : std::nullopt;
}

} // namespace asmevo::search::rewrite
