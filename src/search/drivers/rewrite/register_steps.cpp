#include "search/drivers/rewrite/register_steps.h"

#include "recover/descriptor.h"
#include "recover/recover.h"

#include <algorithm>

namespace asmevo::search::rewrite {

std::optional<RegisterSteps> RegisterSteps::of(const Facts& facts) {
  if (facts.function.kernel < 0) return std::nullopt;
  const auto needs = recover::scan_resources(facts.program, facts.function);
  if (!needs) return std::nullopt;
  const isa::Resources& declared = facts.program.declared[size_t(facts.function.kernel)];
  const object::Kernel& kernel = facts.program.origin->kernels[size_t(facts.function.kernel)];
  RegisterSteps steps(facts.program.target, declared);
  steps.declared_.lds_bytes = 0;
  steps.initial_ = recover::initial_registers(kernel.descriptor, facts.program.target).vgprs;
  steps.vgprs_ = std::max(facts.vgprs_used, steps.initial_);
  steps.agprs_ = needs->agprs;
  steps.exact_ = true;
  const isa::Resources needed = steps.with(steps.vgprs_, steps.agprs_);
  steps.exact_ = steps.granules(needed) == steps.granules(declared) && needed.accum_offset == declared.accum_offset;

  // The largest workgroups have the most waves in the LDS that there is.
  constexpr uint32_t largest = 1024;
  const uint32_t stated = kernel.metadata ? kernel.metadata->max_flat_workgroup_size : 0;
  isa::Resources only_lds{.lds_bytes = declared.lds_bytes};
  const uint32_t by_lds =
      isa::occupancy(only_lds, facts.program.target.processor, stated > 0 && stated <= largest ? stated : largest, 0)
          .waves_per_simd;
  steps.wanted_ = std::min(steps.waves(steps.vgprs_, steps.agprs_), by_lds);
  return steps;
}

uint32_t RegisterSteps::waves(uint32_t vgprs, uint32_t agprs) const {
  return isa::occupancy(with(vgprs, agprs), target_.processor, 64, 0).waves_per_simd;
}

std::optional<uint32_t> RegisterSteps::next_below(uint32_t used) const {
  const uint32_t now = waves(used, agprs_), least = std::max(used - used / 4, initial_);
  for (uint32_t vgprs = used; vgprs-- > least;)
    if (waves(vgprs, agprs_) > now) return vgprs;
  return std::nullopt;
}

isa::Resources RegisterSteps::with(uint32_t vgprs, uint32_t agprs) const {
  isa::Resources r = declared_;
  const uint32_t begin = target_.unified_registers() ? std::max((vgprs + 3) & ~3u, 4u) : 0;
  r.vgprs = exact_ ? vgprs : std::max(vgprs, declared_.vgprs);
  r.agprs = exact_ ? agprs : std::max(agprs, declared_.agprs);
  r.accum_offset = exact_ ? begin : std::max(begin, declared_.accum_offset);
  return r;
}

uint32_t RegisterSteps::granules(const isa::Resources& r) const {
  const uint32_t granule = isa::vgpr_granule(target_.processor);
  return (std::max(isa::total_vgprs(r, target_.processor), 1u) + granule - 1) / granule;
}

} // namespace asmevo::search::rewrite
