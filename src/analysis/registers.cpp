#include "analysis/registers.h"

#include <fmt/format.h>

namespace asmevo::analysis {

size_t bit_of(isa::File file, uint16_t index) { return RegisterMap().first_of({file, index, 1}); }

RegisterSet set_of(const std::vector<isa::RegisterRange>& ranges) { return RegisterMap().set_of(ranges); }

RegisterMap::RegisterMap(const recover::Program& program, const recover::Function& function) {
  if (!program.target.unified_registers() || function.kernel < 0) return;
  if (static_cast<size_t>(function.kernel) >= program.declared.size()) return;
  const uint32_t offset = program.declared[function.kernel].accum_offset;
  if (offset == 0) return;
  uint32_t vgprs = 0;
  bool agprs = false;
  const auto note = [&](const std::vector<isa::RegisterRange>& ranges) {
    for (const isa::RegisterRange& range : ranges) {
      if (range.file == isa::File::vgpr) vgprs = std::max<uint32_t>(vgprs, range.first + range.count);
      agprs |= range.file == isa::File::agpr;
    }
  };
  for (size_t i = function.first; i < function.last; ++i) {
    if (program.items[i].kind != recover::ItemKind::instruction) continue;
    note(program.items[i].instruction.defs);
    note(program.items[i].instruction.uses);
  }
  if (!agprs || vgprs <= offset) return;
  agprs_ = vgpr_unit + offset;
  limit_ = std::min<size_t>(256, agpr_unit - agprs_);
}

RegisterMap RegisterMap::unified(uint32_t accum_offset) {
  RegisterMap map;
  map.agprs_ = vgpr_unit + std::min<size_t>(accum_offset, 256);
  map.limit_ = 256;
  return map;
}

std::string register_name(size_t unit) {
  if (unit == scc_unit) return "scc";
  if (unit == mode_unit) return "mode";
  if (unit >= agpr_unit) return fmt::format("a{}", unit - agpr_unit);
  if (unit >= vgpr_unit) return fmt::format("v{}", unit - vgpr_unit);
  switch (unit) {
  case isa::flat_scratch_lo:
    return "flat_scratch_lo";
  case isa::flat_scratch_lo + 1:
    return "flat_scratch_hi";
  case isa::xnack_mask_lo:
    return "xnack_mask_lo";
  case isa::xnack_mask_lo + 1:
    return "xnack_mask_hi";
  case isa::vcc_lo:
    return "vcc_lo";
  case isa::vcc_hi:
    return "vcc_hi";
  case isa::m0:
    return "m0";
  case isa::exec_lo:
    return "exec_lo";
  case isa::exec_hi:
    return "exec_hi";
  default:
    break;
  }
  if (unit >= isa::ttmp0 && unit < isa::m0) return fmt::format("ttmp{}", unit - isa::ttmp0);
  return fmt::format("s{}", unit);
}

} // namespace asmevo::analysis
