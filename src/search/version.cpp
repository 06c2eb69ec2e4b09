#include "search/version.h"

#include "gate/original.h"
#include "recover/recover.h"

namespace asmevo::search {

Version version_of(const recover::Program& program, std::string artifact, const std::string& kernel,
                   const launch::Case& timed) {
  Version version{.artifact = std::move(artifact), .listing = recover::print_listing(program, false)};
  const auto function = gate::function_of(program, kernel);
  if (!function || (*function)->kernel < 0) return version;
  version.resources = program.declared[size_t((*function)->kernel)];
  const uint32_t work_items = timed.workgroup_size[0] * timed.workgroup_size[1] * timed.workgroup_size[2];
  version.waves_per_simd =
      isa::occupancy(version.resources, program.target.processor, work_items, timed.dynamic_lds).waves_per_simd;
  return version;
}

} // namespace asmevo::search
