#include "recover/declare.h"

#include "recover/descriptor.h"
#include "recover/recover.h"

#include <algorithm>
#include <tuple>

namespace asmevo::recover {

namespace {

uint32_t rounded(uint32_t n, uint32_t to) { return (n + to - 1) / to * to; }

// Registers the scan cannot see: other functions, or an index in M0.
bool reaches_unseen_registers(const Program& program, const Function& function) {
  for (size_t i = function.first; i < function.last; i++) {
    if (program.items[i].kind != ItemKind::instruction) continue;
    std::string_view name = isa::name_of(program.items[i].instruction);
    if (name == "s_swappc_b64" || name == "s_setpc_b64" || name == "s_call_b64" || name.starts_with("s_set_gpr_idx") ||
        name.starts_with("v_movrel"))
      return true;
  }
  return false;
}

struct Rows {
  uint32_t vgprs, agprs;
  bool operator==(const Rows&) const = default;
};

uint32_t accum_offset_for(uint32_t vgprs) { return std::max(rounded(vgprs, 4), 4u); }

bool declared_exactly(const isa::Resources& declared, const Rows& had, const isa::Target& target) {
  uint32_t granule = isa::vgpr_granule(target.processor);
  isa::Resources needed{.vgprs = had.vgprs, .agprs = had.agprs};
  if (target.unified_registers()) {
    needed.accum_offset = accum_offset_for(had.vgprs);
    if (needed.accum_offset != declared.accum_offset) return false;
  }
  auto rows = [&](const isa::Resources& r) { return rounded(std::max(metadata_vgpr_count(r, target), 1u), granule); };
  return rows(needed) == rows(declared);
}

void follow(isa::Resources& declared, const Rows& needs, const isa::Target& target) {
  declared.vgprs = needs.vgprs;
  declared.agprs = needs.agprs;
  if (target.unified_registers()) declared.accum_offset = accum_offset_for(needs.vgprs);
}

void grow(isa::Resources& declared, const Rows& had, const Rows& needs, const isa::Target& target) {
  // A kernel that uses rows behind accum_offset by both names depends on where it lies.
  bool overlapping = target.unified_registers() && had.agprs > 0 && had.vgprs > declared.accum_offset;
  if (target.unified_registers() && overlapping) {
    declared.agprs = std::max(declared.agprs, needs.agprs);
    if (needs.vgprs > declared.accum_offset + declared.agprs) declared.agprs = needs.vgprs - declared.accum_offset;
    return;
  }
  // Without AGPRs, plain VGPRs may use all rows, whatever accum_offset says.
  uint32_t rows =
      target.unified_registers() && needs.agprs == 0 ? declared.accum_offset + declared.agprs : declared.vgprs;
  if (needs.vgprs > rows) {
    declared.vgprs = needs.vgprs;
    if (target.unified_registers())
      declared.accum_offset = std::max(declared.accum_offset, accum_offset_for(needs.vgprs));
  } else if (target.unified_registers() && needs.agprs > 0 && needs.vgprs > declared.accum_offset) {
    declared.accum_offset = accum_offset_for(needs.vgprs);
  }
  declared.agprs = std::max(declared.agprs, needs.agprs);
}

// VCC, flat_scratch and xnack_mask are the last of the scalar registers a wave gets: what the code uses of them takes
// room from the others, more or less than the declaration has set aside for its target.
uint32_t with_special(const isa::Resources& r, const isa::Target& target) {
  return r.sgprs +
         metadata_sgpr_count(
             {.uses_vcc = r.uses_vcc, .uses_flat_scratch = r.uses_flat_scratch, .uses_xnack_mask = r.uses_xnack_mask},
             target);
}

void grow_scalars(isa::Resources& declared, const isa::Resources& had, const isa::Resources& needs,
                  const isa::Target& target) {
  declared.sgprs = std::max(declared.sgprs, needs.sgprs);
  uint32_t wanted = with_special(needs, target), set_aside = metadata_sgpr_count({}, target);
  if (wanted > with_special(had, target) && wanted > declared.sgprs + set_aside)
    declared.sgprs = std::min(wanted - set_aside, 102u);
}

} // namespace

Result<void> redeclare(const Program& before, const Function& old_function, Program& after,
                       const Function& new_function, int kernel) {
  AE_TRY(isa::Resources had, scan_resources(before, old_function));
  AE_TRY(isa::Resources needs, scan_resources(after, new_function));
  const isa::Target& target = after.target;
  isa::Resources& declared = after.declared[kernel];
  InitialRegisters initial = initial_registers(after.origin->kernels[kernel].descriptor, target);
  Rows old_rows{std::max(had.vgprs, initial.vgprs), had.agprs};
  Rows rows{std::max(needs.vgprs, initial.vgprs), needs.agprs};
  if (rows.vgprs > 256 || rows.agprs > 256)
    return fail("the code needs {} VGPRs and {} AGPRs, 256 of each can be named", rows.vgprs, rows.agprs);
  if (rows != old_rows) {
    bool exact = declared_exactly(declared, old_rows, target) && !reaches_unseen_registers(before, old_function) &&
                 !reaches_unseen_registers(after, new_function);
    if (exact)
      follow(declared, rows, target);
    else
      grow(declared, old_rows, rows, target);
  }
  needs.sgprs = std::max(needs.sgprs, initial.sgprs > 102 ? 0 : initial.sgprs);
  grow_scalars(declared, had, needs, target);
  if (uint32_t total = metadata_vgpr_count(declared, target); total > isa::vgpr_file_rows(target.processor))
    return fail("the code needs {} register rows, {} has {}", total, isa::processor_name(target.processor),
                isa::vgpr_file_rows(target.processor));
  return {};
}

Result<bool> redeclare_all(const Program& original, Program& built) {
  const std::vector<isa::Resources> listed = built.declared;
  for (const Function& function : built.functions) {
    auto old = std::ranges::find(original.functions, function.name, &Function::name);
    if (old == original.functions.end()) continue;
    for (int k = 0; k < int(built.declared.size()); k++)
      if (function.kernel < 0 || function.kernel == k) AE_CHECK(redeclare(original, *old, built, function, k));
  }
  auto registers = [](const isa::Resources& r) { return std::tuple(r.vgprs, r.agprs, r.sgprs, r.accum_offset); };
  return !std::ranges::equal(built.declared, listed, {}, registers, registers);
}

} // namespace asmevo::recover
