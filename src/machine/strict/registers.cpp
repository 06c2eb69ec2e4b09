#include "machine/strict/registers.h"

#include "isa/traits.h"
#include "machine/strict/path.h"

#include <algorithm>
#include <bit>

namespace asmevo::machine::strict {

namespace {

using isa::File;
using isa::Instruction;
using isa::RegisterRange;

void set(std::array<uint64_t, 2>& mask, const RegisterRange& range) {
  for (uint32_t r = range.first; r < std::min<uint32_t>(uint32_t(range.first) + range.count, 128); ++r)
    mask[r / 64] |= uint64_t{1} << (r % 64);
}

/// A part of the destination stays as it was: not a read that matters, the instruction never looks at it.
bool keeps_part(const Instruction& i) {
  const std::string_view name = isa::name_of(i);
  if (isa::accumulates(name)) return name.starts_with("v_writelane");
  return i.suffix != isa::Suffix::none || isa::keeps_other_half(name) || isa::keeps_scalar_destination(name) ||
         name.starts_with("s_set_gpr_idx") || (i.encoding == isa::Encoding::vop3a && i.words[0] >> 14 & 1);
}

/// s_andn2_b64 of a lane mask with EXEC: compilers keep the bits of lanes that are off, which nobody looks at, and the
/// mask may be one that no lane has set yet.
bool keeps_mask_of_others(const Instruction& i) {
  constexpr uint32_t exec = 126;
  return i.encoding == isa::Encoding::sop2 && (i.words[0] >> 8 & 0xff) == exec && isa::name_of(i) == "s_andn2_b64";
}

/// The registers that are read for their value: a destination that is kept in part is listed among them, last.
std::vector<RegisterRange> value_reads(const Instruction& i) {
  std::vector<RegisterRange> reads = i.uses;
  if (keeps_mask_of_others(i)) return {};
  if (!keeps_part(i)) return reads;
  for (const RegisterRange& def : i.defs) {
    const auto last = std::find(reads.rbegin(), reads.rend(), def);
    if (last != reads.rend()) reads.erase(std::next(last).base());
  }
  return reads;
}

struct ReachRow {
  std::string_view prefix;
  Reach read, write;
};
/// The rest reads and writes active lanes.
constexpr std::array reaches = {
    ReachRow{"v_mfma_", Reach::all, Reach::all},
    ReachRow{"v_smfmac_", Reach::all, Reach::all},
    ReachRow{"v_readfirstlane_b32", Reach::first_active, Reach::active},
    ReachRow{"v_readlane_b32", Reach::selected, Reach::active},
    ReachRow{"v_writelane_b32", Reach::active, Reach::selected},
};

void set_reach(const Instruction& i, RegisterUse& use) {
  for (const ReachRow& row : reaches)
    if (isa::name_of(i).starts_with(row.prefix)) use.read_reach = row.read, use.write_reach = row.write;
  if (i.suffix == isa::Suffix::dpp) use.read_reach = Reach::dpp;
}

void add_rows(const LaunchPlan& plan, const RegisterRange& range, std::vector<RegisterUse::Rows>& rows) {
  if (range.file != File::vgpr && range.file != File::agpr) return;
  const bool agpr = range.file == File::agpr;
  if (uint32_t(range.first) + range.count > (agpr ? plan.agpr_rows : plan.vgpr_rows)) return; // outside the allocation
  const uint32_t base = !agpr ? 0 : plan.image->target.unified_registers() ? plan.accum_offset : plan.vgpr_rows;
  rows.push_back({uint16_t(base + range.first), range.count, range});
}

/// The lanes that a DPP instruction takes its first source from.
uint64_t dpp_lanes(const Wave& w, const Op& op) {
  if (!op.stage || !op.stage->has_dpp) return w.exec();
  const Dpp& dpp = op.stage->dpp;
  uint64_t from = 0;
  for (uint64_t left = w.exec() & dpp.enabled & dpp.valid; left; left &= left - 1)
    from |= uint64_t{1} << dpp.from[std::countr_zero(left)];
  return from & w.exec();
}

/// Of the lanes that DPP's first source is taken from, those that there may be: dpp_lanes() says which there are.
uint64_t lanes_of(Reach reach, const Wave& w, const Op& op) {
  switch (reach) {
  case Reach::active:
  case Reach::dpp:
    return w.exec();
  case Reach::all:
    return all_lanes;
  case Reach::first_active:
    return w.exec() ? w.exec() & -w.exec() : 1;
  case Reach::selected:
    return uint64_t{1} << (scalar32(w, op.ssrc[1]) & 63);
  }
  return w.exec();
}

} // namespace

RegisterUse register_use(const LaunchPlan& plan, const Instruction& i) {
  RegisterUse use;
  for (const RegisterRange& range : value_reads(i)) {
    if (range.file == File::sgpr) set(use.scalar_reads, range);
    add_rows(plan, range, use.reads);
  }
  for (const RegisterRange& range : i.defs) {
    if (range.file == File::sgpr) set(use.scalar_writes, range);
    add_rows(plan, range, use.writes);
  }
  set_reach(i, use);
  return use;
}

std::vector<RegisterUse> register_uses(const LaunchPlan& plan) {
  std::vector<RegisterUse> uses;
  for (const Instruction& i : plan.image->instructions) uses.push_back(register_use(plan, i));
  return uses;
}

WrittenRegisters::WrittenRegisters(const LaunchPlan& plan, const Wave& w)
    : settled_(plan.image->instructions.size()), lanes_(plan.rows()), started_(w.exec()) {
  const DefinedRegisters defined = defined_registers(plan);
  for (uint32_t k = 0; k < defined.vectors; ++k) lanes_[k] = started_;
  set(scalars_, {File::sgpr, 0, uint16_t(defined.scalars)});
  set(scalars_, {File::sgpr, slot::exec, 2});
  set(scalars_, {File::sgpr, slot::ttmp, 16});
  set(scalars_, {File::sgpr, slot::xnack_mask, 2});
  if (defined.flat_scratch) set(scalars_, {File::sgpr, slot::flat_scratch, 2});
}

bool WrittenRegisters::look(Wave& w, uint32_t index, const RegisterUse& use, Findings& findings) {
  bool settled = true;
  const Op& op = w.ops[index];
  for (unsigned k = 0; k < 2; ++k) {
    const uint64_t missing = use.scalar_reads[k] & ~scalars_[k];
    if (!missing) continue;
    settled = false;
    if (Finding* f = findings.add(FindingKind::uninitialised, w, index))
      f->message = fmt::format("reads {}, which nothing has written",
                               register_name({File::sgpr, uint16_t(64 * k + uint32_t(std::countr_zero(missing)))}, 0));
  }
  const uint64_t wanted = lanes_of(use.read_reach, w, op);
  for (size_t n = 0; n < use.reads.size(); ++n) {
    const RegisterUse::Rows& rows = use.reads[n];
    for (uint32_t k = 0; k < rows.count; ++k) {
      const uint64_t written = lanes_[rows.first + k];
      uint64_t missing = wanted & ~written;
      settled &= (started_ & ~written) == 0;
      // Behind DPP's first source the others are read lane by lane.
      if (missing && use.read_reach == Reach::dpp && n == 0) missing &= dpp_lanes(w, op);
      if (!missing) continue;
      settled = false;
      Finding* f = findings.add(FindingKind::uninitialised, w, index);
      if (!f) continue;
      f->lane = std::countr_zero(missing);
      f->message = fmt::format("reads lane {} of {}, which nothing has written", f->lane, register_name(rows.range, k));
    }
  }
  return write(w, index, use) && settled;
}

/// Takes over what the instruction writes; says whether that is already all there is.
bool WrittenRegisters::write(Wave& w, uint32_t index, const RegisterUse& use) {
  scalars_[0] |= use.scalar_writes[0];
  scalars_[1] |= use.scalar_writes[1];
  const uint64_t lanes = lanes_of(use.write_reach, w, w.ops[index]);
  bool all = true;
  for (const RegisterUse::Rows& rows : use.writes)
    for (uint32_t k = 0; k < rows.count; ++k) {
      uint64_t& written = lanes_[rows.first + k];
      written |= lanes;
      all &= (started_ & ~written) == 0;
    }
  return all;
}

} // namespace asmevo::machine::strict
