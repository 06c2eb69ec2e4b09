#include "isa/resources_json.h"

namespace asmevo::isa {

nlohmann::json to_json(const Resources& resources) {
  return {{"vgprs", resources.vgprs},         {"agprs", resources.agprs},
          {"sgprs", resources.sgprs},         {"accum_offset", resources.accum_offset},
          {"lds_bytes", resources.lds_bytes}, {"scratch_bytes", resources.scratch_bytes}};
}

nlohmann::json to_json(const Occupancy& occupancy) {
  return {{"waves_per_simd", occupancy.waves_per_simd},
          {"workgroups_per_cu", occupancy.workgroups_per_cu},
          {"limiter", occupancy.limiter}};
}

} // namespace asmevo::isa
