#include "device/declared_resources.h"

#include <algorithm>

namespace asmevo::device {

isa::Resources declared_resources(const object::Kernel& kernel, isa::Processor processor) {
  const object::KernelDescriptor& d = kernel.descriptor;
  bool unified = isa::Target{.processor = processor}.unified_registers();
  uint32_t rows = ((d.compute_pgm_rsrc1() & 63) + 1) * isa::vgpr_granule(processor);
  isa::Resources r;
  if (unified) {
    r.accum_offset = ((d.compute_pgm_rsrc3() & 63) + 1) * 4;
    r.vgprs = std::min(rows, r.accum_offset);
    r.agprs = rows - r.vgprs;
  } else {
    r.vgprs = rows;
    r.agprs = processor == isa::Processor::gfx908 ? rows : 0;
  }
  r.sgprs = ((d.compute_pgm_rsrc1() >> 6 & 15) / 2 + 1) * 16; // VCC and the like are in it
  r.lds_bytes = d.group_segment_fixed_size();
  r.scratch_bytes = d.private_segment_fixed_size();
  return r;
}

} // namespace asmevo::device
