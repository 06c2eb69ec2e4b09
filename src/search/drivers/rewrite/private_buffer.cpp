#include "search/drivers/rewrite/private_buffer.h"

#include "isa/fields.h"
#include "search/drivers/rewrite/local.h"

#include <algorithm>

namespace asmevo::search::rewrite {

using isa::Encoding;

namespace {

template <class Parts> auto part_of(const Parts& parts, std::string_view operand) {
  const auto range = operand_registers(operand);
  const bool one = range && range->file == isa::File::sgpr && range->count == 1;
  return one ? parts[range->first] : typename Parts::value_type{};
}

} // namespace

PrivateBuffer::PrivateBuffer(const Facts& facts) : facts_(facts) {
  if (facts.function.kernel < 0) {
    escapes_ = true; // of whoever calls it
    return;
  }
  const auto& kernel = facts.program.origin->kernels[size_t(facts.function.kernel)];
  if ((kernel.descriptor.kernel_code_properties() & 1) == 0) return; // none is handed over
  Parts first{};
  for (size_t k = 0; k < 4; ++k) first[k] = Part(size_t(Part::low) + k);
  in_.resize(facts.graph.blocks.size());
  for (const uint32_t entry : facts.graph.entries) in_[entry] = first;
  settle();
  for (uint32_t b = 0; b < in_.size(); ++b) look_at(b);
  std::ranges::sort(accesses_);
}

bool PrivateBuffer::may_be_used_by(size_t item) const {
  return escapes_ ? facts_.instruction(item).encoding == Encoding::mubuf : std::ranges::binary_search(accesses_, item);
}

void PrivateBuffer::settle() {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < in_.size(); ++b) {
      if (!in_[b]) continue;
      Parts parts = *in_[b];
      for (size_t item = facts_.graph.blocks[b].first; item < facts_.graph.blocks[b].last; ++item) step(item, parts);
      for (const uint32_t next : facts_.graph.blocks[b].successors) changed |= merge(in_[next], parts);
    }
  }
}

bool PrivateBuffer::merge(std::optional<Parts>& into, const Parts& from) {
  if (!into) {
    into = from;
    return true;
  }
  bool changed = false;
  for (uint16_t s = 0; s < scalars; ++s) {
    if ((*into)[s] == from[s] || (*into)[s] == Part::mixed) continue;
    (*into)[s] = Part::mixed;
    changed = true;
  }
  return changed;
}

/// What becomes of the parts; false where the item uses one in a way that is not known.
bool PrivateBuffer::step(size_t item, Parts& parts) const {
  if (!facts_.is_instruction(item)) return true;
  const isa::Instruction& i = facts_.instruction(item);
  bool read = false;
  for (const isa::RegisterRange& use : i.uses)
    for (uint16_t s = use.first; use.file == isa::File::sgpr && s < std::min<int>(use.first + use.count, scalars); ++s)
      read |= parts[s] != Part::nothing;
  std::array<Part, 2> result{};
  bool known = !read || i.encoding == Encoding::mubuf;
  if (const std::string_view name = isa::name_of(i); read && i.traits.salu) {
    const InstructionText text = parse_instruction(facts_.program.items[item].text);
    if (name == "s_mov_b32" || name == "s_mov_b64") {
      const auto from = operand_registers(text.operands[1]);
      for (uint16_t k = 0; from && k < std::min<uint16_t>(from->count, 2); ++k) result[k] = parts[from->first + k];
      known = true;
    } else if (name == "s_add_u32" || name == "s_addc_u32") {
      const Part whole = name == "s_add_u32" ? Part::low : Part::high;
      const Part a = part_of(parts, text.operands[1]), b = part_of(parts, text.operands[2]);
      known = (a == whole && b == Part::nothing) || (b == whole && a == Part::nothing);
      result[0] = whole == Part::low ? Part::moved_low : Part::moved_high;
    }
  }
  for (const isa::RegisterRange& def : i.defs)
    for (uint16_t k = 0; def.file == isa::File::sgpr && k < def.count && def.first + k < scalars; ++k)
      parts[def.first + k] = known && k < 2 ? result[k] : Part::nothing;
  return known;
}

void PrivateBuffer::look_at(uint32_t b) {
  if (!in_[b]) return;
  const analysis::Block& block = facts_.graph.blocks[b];
  Parts parts = *in_[b];
  for (size_t item = block.first; item < block.last; ++item) {
    if (!facts_.is_instruction(item)) continue;
    const isa::Instruction& i = facts_.instruction(item);
    if (i.encoding == Encoding::mubuf) look_at(item, i, parts);
    escapes_ |= !step(item, parts);
    if (const std::string_view name = isa::name_of(i); name == "s_add_u32" || name == "s_addc_u32") {
      const Part sum = parts[i.defs[0].first];
      if (sum != Part::moved_low && sum != Part::moved_high) continue;
      escapes_ |= moves_[sum == Part::moved_high]++ > 0 || !block.predecessors.empty();
    }
  }
  escapes_ |= moved_ && unmoved_;
}

void PrivateBuffer::look_at(size_t item, const isa::Instruction& i, const Parts& parts) {
  const isa::fields::Mubuf buffer = isa::fields::mubuf(i.words);
  if (buffer.srsrc + 4 > scalars) return;
  const auto at = parts.begin() + buffer.srsrc;
  constexpr std::array given{Part::low, Part::high, Part::size, Part::format},
      moved{Part::moved_low, Part::moved_high, Part::size, Part::format};
  const bool as_given = std::equal(given.begin(), given.end(), at),
             as_moved = std::equal(moved.begin(), moved.end(), at);
  if (as_given || as_moved)
    accesses_.push_back(item);
  else
    escapes_ |= std::any_of(at, at + 4, [](Part part) { return part != Part::nothing; });
  unmoved_ |= as_given;
  moved_ |= as_moved;
  escapes_ |= buffer.soffset < scalars && parts[buffer.soffset] != Part::nothing;
}

} // namespace asmevo::search::rewrite
