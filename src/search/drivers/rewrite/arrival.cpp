#include "search/drivers/rewrite/arrival.h"

#include "search/drivers/rewrite/local.h"

namespace asmevo::search::rewrite {

size_t arrival(const Facts& facts, const analysis::Block& block, size_t item, const isa::RegisterRange& range) {
  for (size_t at = item + 1; at < block.last; ++at) {
    if (!facts.is_instruction(at)) continue;
    const isa::Instruction& i = facts.instruction(at);
    if (reads(i, range) || writes(i, range) || writes(i, exec) || i.traits.branch || i.traits.terminator) return at;
  }
  return block.last;
}

} // namespace asmevo::search::rewrite
