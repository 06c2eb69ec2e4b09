#include "recover/recover.h"

namespace asmevo::recover {

namespace {

constexpr uint16_t first_special = isa::flat_scratch_lo;

void count(const isa::RegisterRange& r, isa::Resources& out) {
  uint32_t end = r.first + r.count;
  if (r.count == 0) return;
  if (r.file == isa::File::vgpr) out.vgprs = std::max(out.vgprs, end);
  if (r.file == isa::File::agpr) out.agprs = std::max(out.agprs, end);
  if (r.file != isa::File::sgpr) return;
  if (r.first < first_special) out.sgprs = std::max(out.sgprs, std::min<uint32_t>(end, first_special));
  isa::RegisterRange vcc{isa::File::sgpr, isa::vcc_lo, 2}, flat{isa::File::sgpr, isa::flat_scratch_lo, 2},
      xnack{isa::File::sgpr, isa::xnack_mask_lo, 2};
  out.uses_vcc |= r.overlaps(vcc);
  out.uses_flat_scratch |= r.overlaps(flat);
  out.uses_xnack_mask |= r.overlaps(xnack);
}

} // namespace

Result<isa::Resources> scan_resources(const Program& program, const Function& function) {
  isa::Resources out;
  if (function.kernel >= 0) {
    out.lds_bytes = program.declared[function.kernel].lds_bytes;
    out.scratch_bytes = program.declared[function.kernel].scratch_bytes;
  }
  for (size_t i = function.first; i < function.last; i++) {
    const Item& item = program.items[i];
    if (item.kind != ItemKind::instruction) continue;
    for (const auto& r : item.instruction.defs) count(r, out);
    for (const auto& r : item.instruction.uses) count(r, out);
  }
  if (program.target.unified_registers()) out.accum_offset = std::max((out.vgprs + 3) / 4 * 4, 4u);
  return out;
}

} // namespace asmevo::recover
