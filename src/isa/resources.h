// Registers, LDS and occupancy: granules and limits per processor.
// Source: LLVM AMDGPUUsage "compute_pgm_rsrc1/3", CDNA3 ISA manual 3.6, rocm.docs.amd.com gpu-specs.
#pragma once

#include "isa/target.h"

#include <string_view>

namespace asmevo::isa {

/// What a kernel occupies. VGPR/AGPR/SGPR counts are numbers of registers used (highest index + 1), not granules.
struct Resources {
  uint32_t vgprs = 0;
  uint32_t agprs = 0;
  uint32_t sgprs = 0;         // without VCC, flat_scratch, xnack_mask
  uint32_t accum_offset = 0;  // gfx90a+: first AGPR row in the unified file; a multiple of 4, at least vgprs
  uint32_t lds_bytes = 0;     // static; add the dynamic part of a launch yourself
  uint32_t scratch_bytes = 0; // a lane
  bool uses_vcc = false;
  bool uses_flat_scratch = false;
  bool uses_xnack_mask = false;
};

struct Occupancy {
  uint32_t waves_per_simd = 0;
  uint32_t workgroups_per_cu = 0;
  std::string_view limiter; // "vgpr", "sgpr", "lds", "waves", "workgroup"
};

uint32_t vgpr_granule(Processor);                  // 8 from gfx90a on, 4 before
uint32_t total_vgprs(const Resources&, Processor); // rows allocated: align(vgprs,4)+agprs unified, max(v,a) on gfx908
uint32_t vgpr_file_rows(Processor);     // a lane and SIMD: 512 from gfx90a on, 256 (in each of two files) before
uint32_t total_sgprs(const Resources&); // with VCC, flat_scratch and xnack_mask on top
uint32_t lds_granule(Processor);        // 512; 1280 on gfx950
uint32_t lds_size(Processor);           // 64 KiB; 160 KiB on gfx950
uint32_t max_waves_per_simd(Processor); // 8 from gfx90a on, 10 before

/// `workgroup_size` in work-items; `dynamic_lds` in bytes on top of Resources::lds_bytes.
Occupancy occupancy(const Resources&, Processor, uint32_t workgroup_size, uint32_t dynamic_lds);

} // namespace asmevo::isa
