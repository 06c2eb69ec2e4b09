// What limits occupancy, and what the next step would take.
#pragma once

#include "isa/resources.h"

#include <optional>
#include <string>
#include <vector>

namespace asmevo::profile {

/// A resource of which a wave or a workgroup may have more at no loss.
struct Spare {
  std::string_view resource; // "VGPRs", "SGPRs", "bytes of LDS"
  uint32_t used = 0, free = 0;
};

/// One step up: fewer of one resource, or of several where no single one is enough.
struct WhatIf {
  struct Change {
    std::string_view resource;
    uint32_t now = 0, then = 0;
  };
  std::vector<Change> changes;
  isa::Resources resources; // what the kernel would declare; LDS is all of it, dynamic LDS included
  isa::Occupancy occupancy;
};

/// The smallest reduction that fits one more workgroup on a compute unit (one more wave on a SIMD, where workgroups are
/// smaller); nothing where the hardware has no more slots. VGPRs are rows of the vector register file, AGPRs included.
std::optional<WhatIf> next_step(const isa::Resources& resources, isa::Processor processor, uint32_t workgroup_size,
                                uint32_t dynamic_lds);

/// How much more could be used with the occupancy of now.
std::vector<Spare> spare(const isa::Resources& resources, isa::Processor processor, uint32_t workgroup_size,
                         uint32_t dynamic_lds);

/// "8 fewer VGPRs (120 instead of 128)".
std::string words(const WhatIf& what_if);

} // namespace asmevo::profile
