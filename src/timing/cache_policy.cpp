// Policy bits by generation.
#include "timing/cache_policy.h"

#include "isa/fields.h"

#include <optional>

namespace asmevo::timing {

static std::optional<isa::fields::CachePolicy> bits_of(const isa::Instruction& i) {
  switch (i.encoding) {
  case isa::Encoding::flat:
  case isa::Encoding::global:
  case isa::Encoding::scratch:
    return isa::fields::flat(i.words).cache;
  case isa::Encoding::mubuf:
    return isa::fields::mubuf(i.words).cache;
  case isa::Encoding::mtbuf:
    return isa::fields::mtbuf(i.words).cache;
  default:
    return std::nullopt;
  }
}

CachePolicy cache_policy(const isa::Instruction& i, isa::Processor processor) {
  const auto bits = bits_of(i);
  if (!bits) return {};
  if (processor >= isa::Processor::gfx942)
    return {.misses_l1 = bits->sc1, .streams_l1 = bits->nt, .streams_l2 = bits->nt};
  return {.misses_l1 = bits->sc0, .streams_l1 = false, .streams_l2 = bits->nt}; // glc, slc
}

} // namespace asmevo::timing
