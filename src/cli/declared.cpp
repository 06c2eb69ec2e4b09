#include "cli/declared.h"

#include "recover/descriptor.h"
#include "report/json.h"

namespace asmevo::cli {

Declared declared_by(const object::Kernel& kernel, const isa::Target& target) {
  Declared d{.resources = recover::declared_resources(kernel.descriptor, target), .occupancy = {}};
  d.workgroup_size = kernel.metadata ? kernel.metadata->max_flat_workgroup_size : 0;
  if (d.workgroup_size == 0) d.workgroup_size = 64;
  d.occupancy = isa::occupancy(d.resources, target.processor, d.workgroup_size, 0);
  return d;
}

std::string to_text(const Declared& d) {
  const isa::Resources& r = d.resources;
  return fmt::format("{} VGPR, {} AGPR, {} SGPR, {} bytes of LDS, {} of scratch; {} waves a SIMD (limit: {})", r.vgprs,
                     r.agprs, r.sgprs, r.lds_bytes, r.scratch_bytes, d.occupancy.waves_per_simd, d.occupancy.limiter);
}

nlohmann::json to_json(const Declared& d) {
  return {{"declared", report::to_json(d.resources)},
          {"workgroup_size", d.workgroup_size},
          {"occupancy", report::to_json(d.occupancy)}};
}

} // namespace asmevo::cli
