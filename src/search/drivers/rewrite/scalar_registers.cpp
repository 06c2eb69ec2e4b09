#include "search/drivers/rewrite/scalar_registers.h"

#include "isa/resources.h"

#include <algorithm>

namespace asmevo::search::rewrite {

uint16_t sgpr_budget(const Facts& facts) {
  if (facts.function.kernel < 0) return 0;
  const isa::Resources& resources = facts.program.declared[size_t(facts.function.kernel)];
  const auto waves = [&](uint32_t sgprs) {
    isa::Resources r = resources;
    r.sgprs = sgprs;
    r.uses_vcc = true;
    return isa::occupancy(r, facts.program.target.processor, 64, 0).waves_per_simd;
  };
  uint16_t budget = isa::flat_scratch_lo;
  while (budget > resources.sgprs && waves(budget) < waves(resources.sgprs)) --budget;
  return budget;
}

std::vector<isa::RegisterRange> unused_sgprs(const Facts& facts, size_t count, uint16_t width) {
  std::vector<bool> named(sgpr_budget(facts), false);
  for (size_t item = facts.function.first; item < facts.function.last; ++item) {
    if (!facts.is_instruction(item)) continue;
    const isa::Instruction& i = facts.instruction(item);
    for (const auto* ranges : {&i.defs, &i.uses})
      for (const isa::RegisterRange& r : *ranges)
        if (r.file == isa::File::sgpr)
          for (size_t s = r.first; s < std::min<size_t>(size_t{r.first} + r.count, named.size()); ++s) named[s] = true;
  }
  const analysis::RegisterSet& live = facts.live_before(facts.function.first);
  for (size_t s = 0; s < named.size(); ++s) named[s] = named[s] || live[s];
  std::vector<isa::RegisterRange> found;
  for (uint16_t s = 0; size_t{s} + width <= named.size() && found.size() < count; s = uint16_t(s + width)) {
    const auto begin = named.begin() + s;
    if (std::find(begin, begin + width, true) == begin + width) found.push_back({isa::File::sgpr, s, width});
  }
  return found;
}

} // namespace asmevo::search::rewrite
