#include "machine/strict/moved.h"

#include "machine/modal.h"

#include <algorithm>

namespace asmevo::machine::strict {

namespace {

using isa::File;
using isa::Instruction;
using isa::RegisterRange;

constexpr uint32_t scalar_registers = 102;

bool names(const RegisterRange& range, RowRef row) {
  return range.file == File::vgpr && row.space() == RowSpace::vgpr && range.first == row.row();
}

RegisterRange by(RegisterRange range, uint32_t index) {
  range.first = uint16_t(range.first + index);
  return range;
}

/// A vector instruction under GPR indexing. A source beyond the wave's registers is v0, and a destination there means
/// that nothing is done.
Instruction moved_vectors(const Instruction& from, const Op& op, const GprIndex& gpr, uint32_t rows) {
  const NamedRows named = named_rows(op);
  Instruction to = from;
  to.uses.clear();
  to.defs.clear();
  const bool moves_destination = gpr.enables & 8;
  for (const RegisterRange& range : from.uses) {
    bool moves = false, stays = false, is_source = false;
    for (unsigned k = 0; k < 3; ++k) {
      if (!names(range, named.source[k])) continue;
      is_source = true;
      (gpr.enables >> k & 1 ? moves : stays) = true;
    }
    if (!is_source) (moves_destination && names(range, named.destination) ? moves : stays) = true;
    if (stays) to.uses.push_back(range);
    if (!moves) continue;
    const RegisterRange at = by(range, gpr.index);
    to.uses.push_back(at.first < rows ? at : RegisterRange{File::vgpr, 0, range.count});
  }
  for (const RegisterRange& range : from.defs) {
    const bool moves = moves_destination && names(range, named.destination);
    to.defs.push_back(moves ? by(range, gpr.index) : range);
    if (moves && uint32_t(range.first) + gpr.index < rows) continue;
    if (moves) return to.uses.clear(), to.defs.clear(), to;
  }
  return to;
}

/// s_movrels reads what M0 leads to, s_movreld writes it; beyond the general registers the one reads s0, the other does
/// nothing.
Instruction moved_scalars(const Instruction& from, uint32_t m0) {
  Instruction to = from;
  const auto move = [&](RegisterRange& range) {
    const uint64_t at = uint64_t{range.first} + m0;
    const bool inside = at + range.count <= scalar_registers;
    range.first = uint16_t(inside ? at : 0);
    return inside;
  };
  if (isa::name_of(from).starts_with("s_movrels")) {
    for (RegisterRange& range : to.uses)
      if (range.file == File::sgpr && range.first < scalar_registers) move(range);
    return to;
  }
  if (to.defs.empty()) return to;
  if (!to.uses.empty() && to.uses.front() == to.defs.front()) to.uses.erase(to.uses.begin()); // LLVM lists it there
  if (!move(to.defs.front())) to.defs.erase(to.defs.begin());
  return to;
}

} // namespace

MovedInstructions::MovedInstructions(const Image::Impl& image) : image_(image) {
  for (const Instruction& i : image.instructions) {
    originals_.push_back(uint32_t(originals_.size()));
    relative_.push_back(isa::name_of(i).starts_with("s_movrel"));
  }
  any_relative_ = std::ranges::find(relative_, 1) != relative_.end();
}

/// What the registers depend on, as far as they are moved at all.
std::optional<uint32_t> MovedInstructions::index_of(const Wave& w, uint32_t index) const {
  if (relative_[index]) return std::min(w.m0(), scalar_registers);
  if (!(w.mode & mode::gpr_idx_en) || !image_.instructions[index].traits.valu) return std::nullopt;
  const GprIndex gpr = gpr_index(w);
  if (gpr.enables == 0 || gpr.index == 0) return std::nullopt;
  return gpr.index | gpr.enables << 8;
}

Instruction MovedInstructions::moved(const Wave& w, uint32_t index) const {
  const Instruction& from = image_.instructions[index];
  if (relative_[index]) return moved_scalars(from, std::min(w.m0(), scalar_registers));
  return moved_vectors(from, image_.ops[index], gpr_index(w), w.vgpr_rows);
}

} // namespace asmevo::machine::strict
