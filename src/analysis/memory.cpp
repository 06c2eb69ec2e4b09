#include "analysis/memory.h"

#include "isa/fields.h"

#include <algorithm>

namespace asmevo::analysis {
namespace {

using isa::Encoding;
using isa::Instruction;
namespace fields = isa::fields;

struct SizeRow {
  std::string_view part;
  uint32_t bytes;
};
/// The first row whose part occurs in the mnemonic decides.
constexpr std::array sizes = {
    SizeRow{"dwordx16", 64}, SizeRow{"dwordx8", 32}, SizeRow{"dwordx4", 16}, SizeRow{"dwordx3", 12},
    SizeRow{"dwordx2", 8},   SizeRow{"dword", 4},    SizeRow{"_xyzw", 16},   SizeRow{"_xyz", 12},
    SizeRow{"byte", 1},      SizeRow{"short", 2},    SizeRow{"_b128", 16},   SizeRow{"_b96", 12},
    SizeRow{"_b64", 8},      SizeRow{"_u64", 8},     SizeRow{"_i64", 8},     SizeRow{"_f64", 8},
    SizeRow{"_b32", 4},      SizeRow{"_u32", 4},     SizeRow{"_i32", 4},     SizeRow{"_f32", 4},
    SizeRow{"_pk_", 4},      SizeRow{"_b16", 2},     SizeRow{"_u16", 2},     SizeRow{"_i16", 2},
    SizeRow{"_b8", 1},       SizeRow{"_u8", 1},      SizeRow{"_i8", 1},      SizeRow{"_x2", 8},
};

Space space_of(const Instruction& i) {
  const AccessMask accesses = accesses_of(i);
  if (i.traits.side_effects) return Space::control;
  switch (i.encoding) {
  case Encoding::smem:
    return Space::scalar;
  case Encoding::ds:
    return accesses == 0 ? Space::none : Space::lds;
  case Encoding::scratch:
    return i.traits.lds ? Space::lds_and_global : Space::scratch;
  case Encoding::flat:
    return Space::flat;
  case Encoding::global:
  case Encoding::mubuf:
  case Encoding::mtbuf:
  case Encoding::mimg:
    return i.traits.lds ? Space::lds_and_global : Space::global;
  default:
    return Space::none;
  }
}

void add_extent(MemoryAccess& access, int64_t offset, uint32_t bytes) {
  access.extents[access.extent_count++] = {offset, bytes};
}

void lds_address(const Instruction& i, std::string_view name, MemoryAccess& access) {
  const fields::Ds ds = fields::ds(i.words);
  access.base = {{isa::File::vgpr, ds.addr, 1}};
  const bool strided = name.find("st64") != std::string_view::npos;
  if (name.starts_with("ds_read2") || name.starts_with("ds_write2")) {
    const uint32_t bytes = name.find("b64") != std::string_view::npos ? 8 : 4, step = strided ? bytes * 64 : bytes;
    add_extent(access, int64_t{ds.offset0} * step, bytes);
    add_extent(access, int64_t{ds.offset1} * step, bytes);
    return;
  }
  add_extent(access, ds.offset(), access_bytes(name));
}

/// Whether a scratch instruction has a vector offset. Its field is there in any case, and may say the same as that of the
/// data, so operands are counted; what a load keeps of its destination looks like an offset there.
bool has_vector_offset(const Instruction& i) {
  const auto vectors = std::ranges::count_if(std::span(i.uses).first(i.explicit_uses), [](const auto& use) {
    return use.file == isa::File::vgpr || use.file == isa::File::agpr;
  });
  return vectors > (i.traits.may_store && !i.traits.lds ? 1 : 0);
}

void flat_address(const Instruction& i, std::string_view name, MemoryAccess& access) {
  const fields::Flat flat = fields::flat(i.words);
  const bool scalar = flat.segment != fields::Segment::flat && flat.has_saddr();
  if (flat.segment != fields::Segment::scratch)
    access.base.push_back({isa::File::vgpr, flat.addr, static_cast<uint16_t>(scalar ? 1 : 2)});
  else if (has_vector_offset(i))
    access.base.push_back({isa::File::vgpr, flat.addr, 1});
  if (scalar)
    access.base.push_back(
        {isa::File::sgpr, flat.saddr, static_cast<uint16_t>(flat.segment == fields::Segment::global ? 2 : 1)});
  access.coherent = flat.cache.sc1 || (flat.cache.sc0 && !i.traits.atomic);
  add_extent(access, flat.offset, access_bytes(name));
}

void buffer_address(const Instruction& i, std::string_view name, MemoryAccess& access) {
  const fields::Mubuf buffer = fields::mubuf(i.words);
  access.base = {{isa::File::sgpr, buffer.srsrc, 4}};
  const auto vector_parts = static_cast<uint16_t>(buffer.offen + buffer.idxen);
  if (vector_parts > 0) access.base.push_back({isa::File::vgpr, buffer.vaddr, vector_parts});
  if (buffer.soffset < 128) access.base.push_back({isa::File::sgpr, buffer.soffset, 1});
  access.coherent = buffer.cache.sc1 || (buffer.cache.sc0 && !i.traits.atomic);
  // Two constants in soffset are different offsets: only equal ones are the same base.
  add_extent(access, buffer.offset, buffer.soffset == 128 || buffer.soffset < 128 ? access_bytes(name) : 0);
}

void scalar_address(const Instruction& i, std::string_view name, MemoryAccess& access) {
  const fields::Smem smem = fields::smem(i.words);
  const uint16_t width = name.find("buffer") != std::string_view::npos ? 4 : 2;
  access.base = {{isa::File::sgpr, smem.sbase, width}};
  if (smem.soffset_en) access.base.push_back({isa::File::sgpr, smem.soffset, 1});
  if (smem.offset_is_sgpr()) access.base.push_back({isa::File::sgpr, smem.offset_sgpr(), 1});
  add_extent(access, smem.imm ? smem.offset : 0, access_bytes(name));
}

bool overlap(const Extent& a, const Extent& b) {
  if (a.bytes == 0 || b.bytes == 0) return true;
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

bool disjoint(const MemoryAccess& a, const MemoryAccess& b) {
  for (uint8_t i = 0; i < a.extent_count; ++i)
    for (uint8_t j = 0; j < b.extent_count; ++j)
      if (overlap(a.extents[i], b.extents[j])) return false;
  return true;
}

bool touches_lds(Space s) { return s == Space::lds || s == Space::flat || s == Space::lds_and_global; }
bool touches_global(Space s) {
  return s == Space::global || s == Space::flat || s == Space::lds_and_global || s == Space::scalar;
}
bool touches_scratch(Space s) { return s == Space::scratch || s == Space::flat; }

bool share_memory(Space a, Space b) {
  return (touches_lds(a) && touches_lds(b)) || (touches_global(a) && touches_global(b)) ||
         (touches_scratch(a) && touches_scratch(b));
}

} // namespace

uint32_t access_bytes(std::string_view name) {
  for (const SizeRow& row : sizes)
    if (name.find(row.part) != std::string_view::npos) return row.bytes;
  return 0;
}

MemoryAccess memory_access(const Instruction& i) {
  MemoryAccess access;
  access.space = space_of(i);
  if (access.space == Space::none || access.space == Space::control) return access;
  const std::string_view name = name_of(i);
  access.loads = i.traits.may_load;
  access.stores = i.traits.may_store;
  access.atomic = i.traits.atomic;
  switch (i.encoding) {
  case Encoding::ds:
    lds_address(i, name, access);
    break;
  case Encoding::flat:
  case Encoding::global:
  case Encoding::scratch:
    flat_address(i, name, access);
    break;
  case Encoding::mubuf:
    buffer_address(i, name, access);
    break;
  case Encoding::smem:
    scalar_address(i, name, access);
    break;
  default:
    break; // typed buffers and images: no extent, so never disjoint
  }
  if (access.space == Space::lds_and_global) access.stores = true; // it writes LDS
  return access;
}

bool is_plain(const MemoryAccess& a) {
  return !a.atomic && !a.coherent && a.space != Space::control && a.space != Space::lds_and_global;
}

bool must_keep_order(const MemoryAccess& a, const MemoryAccess& b, bool same_base) {
  if (a.space == Space::none || b.space == Space::none) return false;
  if (a.space == Space::control || b.space == Space::control) return true;
  if (!share_memory(a.space, b.space)) return false;
  if (a.atomic || b.atomic || a.coherent || b.coherent) return true;
  if (!a.stores && !b.stores) return false;
  if (a.space != b.space || !same_base || a.extent_count == 0 || b.extent_count == 0) return true;
  if (a.space == Space::lds || a.space == Space::lds_and_global) return true;
  return !disjoint(a, b);
}

BarrierStores::BarrierStores(const recover::Program& program, const recover::Function& function, const Graph& graph)
    : program_(program), function_(function), graph_(graph), into_(graph.blocks.size()), out_of_(graph.blocks.size()) {
  const auto stores = [&](const Block& block) {
    for (size_t i = block.first; i < block.last; ++i)
      if (is_store(i)) return true;
    return false;
  };
  std::vector<bool> has(graph.blocks.size()), first_is_store(graph.blocks.size()), passes(graph.blocks.size());
  for (size_t b = 0; b < graph.blocks.size(); ++b) {
    has[b] = stores(graph.blocks[b]);
    passes[b] = true;
    for (size_t i = graph.blocks[b].first; i < graph.blocks[b].last && passes[b] && !first_is_store[b]; ++i) {
      first_is_store[b] = is_store(i);
      passes[b] = !(is_instruction(program.items[i]) && program.items[i].instruction.traits.barrier);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = 0; b < graph.blocks.size(); ++b)
      for (uint32_t s : graph.blocks[b].successors) {
        if ((into_[b] || has[b]) && !into_[s]) into_[s] = changed = true;
        const bool reaches = first_is_store[b] || (passes[b] && out_of_[s]);
        if (reaches && !out_of_[b]) out_of_[b] = changed = true;
      }
  }
  for (size_t b = 0; b < graph.blocks.size(); ++b)
    if (first_is_store[b]) out_of_[b] = true;
}

bool BarrierStores::is_store(size_t item) const {
  if (!is_instruction(program_.items[item])) return false;
  const Instruction& i = program_.items[item].instruction;
  if (is_call(i)) return true;
  return (i.traits.vmem || i.traits.smem) && i.traits.may_store && !(i.traits.lds && !i.traits.flat);
}

bool BarrierStores::before(size_t item) const {
  const uint32_t b = graph_.block_of[item - function_.first];
  if (into_[b] || function_.kernel < 0) return true;
  for (size_t i = graph_.blocks[b].first; i < item; ++i)
    if (is_store(i)) return true;
  return false;
}

bool BarrierStores::behind(size_t item) const {
  const Block& block = graph_.blocks[graph_.block_of[item - function_.first]];
  for (size_t i = item + 1; i < block.last; ++i) {
    if (is_store(i)) return true;
    if (is_instruction(program_.items[i]) && program_.items[i].instruction.traits.barrier) return false;
  }
  if (block.unknown) return true;
  return std::ranges::any_of(block.successors, [&](uint32_t s) { return out_of_[s]; });
}

std::optional<uint16_t> kernarg_pointer(const recover::Program& program, const recover::Function& function) {
  if (function.kernel < 0 || !program.origin) return std::nullopt;
  if (static_cast<size_t>(function.kernel) >= program.origin->kernels.size()) return std::nullopt;
  const uint16_t enabled = program.origin->kernels[function.kernel].descriptor.kernel_code_properties();
  // private segment buffer, dispatch pointer, queue pointer come before it.
  constexpr std::array<uint16_t, 3> before = {4, 2, 2};
  uint16_t at = 0;
  for (size_t b = 0; b < before.size(); ++b)
    if ((enabled >> b & 1) != 0) at = static_cast<uint16_t>(at + before[b]);
  if ((enabled >> 3 & 1) == 0) return std::nullopt;
  return at;
}

} // namespace asmevo::analysis
