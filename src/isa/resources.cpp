// How many waves fit.
//
// Registers are allocated in granules out of a file per SIMD, LDS in granules out of a pool per CU, and a workgroup is
// placed whole or not at all. Whichever runs out first limits occupancy. From gfx90a on a wave's VGPRs and AGPRs are
// rows of one file of 512, the AGPRs starting at a multiple of 4; gfx908 has two files of 256 and allocates the larger
// count in both. SGPRs are allocated too (800 a SIMD), and VCC, flat_scratch and xnack_mask sit on top of those a
// kernel names.
#include "isa/resources.h"

#include <algorithm>

namespace asmevo::isa {
namespace {

constexpr uint32_t simds_per_cu = 4;
constexpr uint32_t wave_size = 64;
constexpr uint32_t waves_per_workgroup = 16;
constexpr uint32_t workgroups_per_cu = 32; // slots of workgroups with more than one wave
constexpr uint32_t sgprs_per_simd = 800;
constexpr uint32_t sgpr_granule = 16;

uint32_t round_up(uint32_t value, uint32_t granule) { return (value + granule - 1) / granule * granule; }

/// VCC is the last pair, flat_scratch and xnack_mask lie under it: using a lower one reserves those above.
uint32_t special_sgprs(const Resources& resources) {
  if (resources.uses_flat_scratch) return 6;
  if (resources.uses_xnack_mask) return 4;
  return resources.uses_vcc ? 2 : 0;
}

} // namespace

uint32_t vgpr_granule(Processor processor) { return processor >= Processor::gfx90a ? 8 : 4; }

uint32_t vgpr_file_rows(Processor processor) { return processor >= Processor::gfx90a ? 512 : 256; }

uint32_t total_vgprs(const Resources& resources, Processor processor) {
  if (processor < Processor::gfx90a) return std::max(resources.vgprs, resources.agprs);
  if (resources.agprs == 0) return std::max(resources.vgprs, resources.accum_offset);
  return std::max(round_up(resources.vgprs, 4), resources.accum_offset) + resources.agprs;
}

uint32_t total_sgprs(const Resources& resources) { return resources.sgprs + special_sgprs(resources); }

uint32_t lds_granule(Processor processor) { return processor == Processor::gfx950 ? 1280 : 512; }

uint32_t lds_size(Processor processor) { return processor == Processor::gfx950 ? 160 * 1024 : 64 * 1024; }

uint32_t max_waves_per_simd(Processor processor) { return processor >= Processor::gfx90a ? 8 : 10; }

Occupancy occupancy(const Resources& resources, Processor processor, uint32_t workgroup_size, uint32_t dynamic_lds) {
  const uint32_t waves = std::max<uint32_t>(1, (workgroup_size + wave_size - 1) / wave_size);
  if (waves > waves_per_workgroup) return {0, 0, "workgroup"};

  const uint32_t rows =
      std::max(round_up(total_vgprs(resources, processor), vgpr_granule(processor)), vgpr_granule(processor));
  const uint32_t scalars = std::max(round_up(total_sgprs(resources), sgpr_granule), sgpr_granule);
  const uint64_t lds_bytes = uint64_t{resources.lds_bytes} + dynamic_lds;
  const uint64_t lds = (lds_bytes + lds_granule(processor) - 1) / lds_granule(processor) * lds_granule(processor);

  Occupancy result{max_waves_per_simd(processor), 0, "waves"};
  auto limit = [&](uint32_t waves_per_simd, std::string_view name) {
    if (waves_per_simd < result.waves_per_simd) result.waves_per_simd = waves_per_simd, result.limiter = name;
  };
  limit(vgpr_file_rows(processor) / rows, "vgpr");
  limit(sgprs_per_simd / scalars, "sgpr");
  // Waves of a workgroup spread over the SIMDs, so a CU holds as many workgroups as its wave slots allow.
  uint32_t groups = result.waves_per_simd * simds_per_cu / waves;
  auto limit_groups = [&](uint64_t count, std::string_view name) {
    if (count < groups) groups = static_cast<uint32_t>(count), result.limiter = name;
  };
  if (waves > 1) limit_groups(workgroups_per_cu, "workgroup");
  if (lds > 0) limit_groups(lds_size(processor) / lds, "lds");
  result.workgroups_per_cu = groups;
  result.waves_per_simd = std::min(result.waves_per_simd, (groups * waves + simds_per_cu - 1) / simds_per_cu);
  return result;
}

} // namespace asmevo::isa
