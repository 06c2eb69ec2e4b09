// Building the static table, and pricing classes for a draw.
#include "timing/static_table.h"

#include "isa/counters.h"

#include <algorithm>
#include <cmath>

namespace asmevo::timing {

namespace {

// EXEC is read by every vector instruction; the hardware forwards it without a stall, so it is left out of `uses`
// unless a vector instruction wrote it (then the row is pending and defs show it).
RowRange rows_of(const isa::RegisterRange& r) {
  using isa::File;
  const auto clipped = [&](uint16_t base, unsigned limit) {
    const unsigned first = std::min<unsigned>(r.first, limit), last = std::min<unsigned>(r.first + r.count, limit);
    return RowRange{static_cast<uint16_t>(base + first), static_cast<uint16_t>(last - first)};
  };
  switch (r.file) {
  case File::sgpr:
    return clipped(0, 128);
  case File::scc:
    return {row_scc, 1};
  case File::mode:
    return {row_mode, 1};
  case File::vgpr:
    return clipped(row_vgpr, 512);
  case File::agpr:
    return clipped(row_agpr, 512);
  }
  return {};
}

// MODE is read by all float instructions and written by s_setreg only, which waits for the pipes by itself.
bool tracked(const isa::RegisterRange& r) { return r.file != isa::File::mode; }

} // namespace

StaticTable::StaticTable(std::span<const isa::Instruction> code, const isa::Target& target) {
  ops_.reserve(code.size());
  for (const isa::Instruction& i : code) append(i, target);
}

uint32_t StaticTable::append(const isa::Instruction& i, const isa::Target& target) {
  StaticOp op;
  op.address = i.address;
  op.fallthrough = i.address + std::max<unsigned>(i.size, 4);
  op.op = classify(i);
  op.category = category_of(op.op);
  op.ranges = static_cast<uint32_t>(ranges_.size());
  for (const auto& r : i.defs)
    if (tracked(r) && op.defs < 255) ranges_.push_back(rows_of(r)), ++op.defs;
  for (const auto& r : i.uses)
    if (tracked(r) && op.uses < 255) ranges_.push_back(rows_of(r)), ++op.uses;
  if (op.op == OpClass::mfma) {
    const MfmaShape shape = mfma_shape(i, target.processor);
    op.mfma_passes = static_cast<uint8_t>(shape.passes);
    op.valu_blocked = static_cast<uint8_t>(shape.valu_blocked);
  }
  op.writes_scalar = i.traits.valu &&
                     std::ranges::any_of(i.defs, [](const isa::RegisterRange& r) { return r.file == isa::File::sgpr; });
  op.across_lanes = reads_across_lanes(i);
  op.load = i.traits.may_load;
  op.store = i.traits.may_store;
  op.atomic = i.traits.atomic;
  op.returns = i.traits.returns;
  op.lds_direct = i.traits.vmem && i.traits.lds && !i.traits.flat;
  op.policy = cache_policy(i, target.processor);
  op.conditional = i.traits.conditional;
  const isa::CounterEvents events = isa::counter_events(i);
  op.vm = events.vmcnt;
  op.lgkm = events.lgkmcnt;
  op.lgkm_unordered = events.lgkm_out_of_order;
  const isa::WaitCounts waits = isa::waits_of(i);
  op.wait_vm = waits.vmcnt;
  op.wait_lgkm = waits.lgkmcnt;
  op.immediate = static_cast<uint16_t>(i.words[0]);
  ops_.push_back(op);
  return static_cast<uint32_t>(ops_.size() - 1);
}

uint64_t StaticTable::place(size_t i, uint64_t address) {
  StaticOp& op = ops_[i];
  op.fallthrough += address - op.address;
  op.address = address;
  return op.fallthrough;
}

bool StaticTable::feeds(const StaticOp& writer, const StaticOp& reader) const {
  for (const RowRange& d : defs(writer))
    for (const RowRange& u : uses(reader))
      if (d.first >= row_vgpr && d.first < u.first + u.count && u.first < d.first + d.count) return true;
  return false;
}

std::array<Cost, size_t(OpClass::priority) + 1> cost_table(const Values& v) {
  std::array<Cost, size_t(OpClass::priority) + 1> table;
  const auto set = [&](OpClass op, double issue, double result) {
    table[size_t(op)] = {std::max(issue, 4.0), clocks(std::max(result, 4.0))};
  };
  set(OpClass::valu, 4, v.valu_dependent);
  set(OpClass::valu_fma, 4, v.valu_fma_dependent);
  set(OpClass::valu_f64, v.valu_f64_issue, v.valu_f64_dependent);
  set(OpClass::valu_trans, v.valu_trans_issue, v.valu_trans_dependent);
  set(OpClass::valu_convert, v.valu_convert_issue, std::max(v.valu_convert_issue, v.valu_dependent));
  set(OpClass::valu_multiply, v.valu_multiply_issue, std::max(v.valu_multiply_issue, v.valu_dependent));
  set(OpClass::valu_wide, v.valu_wide_issue, std::max(v.valu_wide_issue, v.valu_dependent));
  set(OpClass::mfma, 4, 4); // by passes
  set(OpClass::salu, 4, v.salu_dependent);
  set(OpClass::message, 4, v.message);
  return table;
}

} // namespace asmevo::timing
