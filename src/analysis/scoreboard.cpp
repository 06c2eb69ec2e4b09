#include "analysis/scoreboard.h"

namespace asmevo::analysis {
namespace {

using isa::Instruction;

/// LDS instructions that only move data between lanes.
bool stays_in_registers(std::string_view name) {
  return name.starts_with("ds_swizzle") || name.starts_with("ds_permute") || name.starts_with("ds_bpermute") ||
         name.starts_with("ds_nop") || name.starts_with("ds_gws");
}

bool loads_to_lds(const Instruction& i) { return i.traits.vmem && i.traits.lds; }

constexpr AccessMask lds_mask = bit(Access::lds_read) | bit(Access::lds_write);

void mark_accesses(Pending& pending, AccessMask accesses, bool ordered, uint8_t maximum, uint32_t item) {
  for (size_t k = 0; k < access_kinds; ++k)
    if ((accesses >> k & 1) != 0) pending.mark_access(static_cast<Access>(k), ordered, maximum, item);
}

} // namespace

AccessMask accesses_of(const Instruction& i) {
  if (i.traits.vmem) {
    if (loads_to_lds(i)) return bit(Access::load_to_lds);
    AccessMask mask = 0;
    if (i.traits.may_load) mask |= bit(Access::load);
    if (i.traits.may_store) mask |= bit(Access::store);
    if (i.traits.flat && i.traits.may_load) mask |= bit(Access::lds_read);
    if (i.traits.flat && i.traits.may_store) mask |= bit(Access::lds_write);
    return mask;
  }
  if (!i.traits.lds || stays_in_registers(name_of(i))) return 0;
  AccessMask mask = 0;
  if (i.traits.may_load) mask |= bit(Access::lds_read);
  if (i.traits.may_store) mask |= bit(Access::lds_write);
  return mask;
}

void Scoreboard::forget(uint32_t cause) {
  for (size_t slot = 0; slot < register_bits; ++slot) {
    if (slot >= isa::m0 && slot < vgpr_unit) continue; // M0 and EXEC are no load's destination
    if (slot >= scc_unit) continue;
    (*this)[Counter::vm].mark(slot, false, cause);
    (*this)[Counter::lgkm].mark(slot, false, cause);
  }
}

void Scoreboard::issue(const Instruction& i, const RegisterMap& registers, uint32_t item) {
  const isa::CounterEvents events = counter_events(i);
  const AccessMask accesses = accesses_of(i);
  if (events.vmcnt != 0) {
    const bool writeback = !i.traits.may_load && !i.traits.may_store;
    const bool ordered = !i.traits.flat && !writeback;
    Pending& vm = (*this)[Counter::vm];
    vm.issue(events.vmcnt, ordered, counter_maximum[0]);
    if (writeback) vm.mark(writeback_slot, false, item);
    registers.each(i.defs, [&](size_t unit) { vm.mark(unit, ordered, item); });
    mark_accesses(vm, accesses & ~lds_mask, ordered, counter_maximum[0], item);
  }
  if (events.lgkmcnt != 0) {
    const bool ordered = i.traits.lds && !events.lgkm_out_of_order;
    Pending& lgkm = (*this)[Counter::lgkm];
    lgkm.issue(events.lgkmcnt, ordered, counter_maximum[1]);
    registers.each(i.defs, [&](size_t unit) { lgkm.mark(unit, ordered, item); });
    mark_accesses(lgkm, accesses & lds_mask, ordered, counter_maximum[1], item);
  }
  if (events.expcnt != 0) {
    Pending& exp = (*this)[Counter::exp];
    exp.issue(events.expcnt, false, counter_maximum[2]);
    registers.each(i.uses, [&](size_t unit) {
      if (is_vector_unit(unit)) exp.mark(unit, false, item);
    });
  }
  if (i.traits.barrier) {
    const Pending& lgkm = (*this)[Counter::lgkm];
    const size_t slot = access_slot + static_cast<size_t>(Access::lds_read);
    read_over_barrier = lgkm.waits_for(slot) ? lgkm.cause(slot) : nowhere;
  }
}

} // namespace asmevo::analysis
