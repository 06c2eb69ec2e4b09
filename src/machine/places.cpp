#include "machine/places.h"

#include "analysis/memory.h"
#include "isa/fields.h"

namespace asmevo::machine {

namespace {

using isa::Encoding;
using isa::Instruction;

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

Addressing lds_addressing(std::string_view name) {
  if (has(name, "addtid")) return Addressing::lds_add_tid;
  if (name == "ds_append" || name == "ds_consume") return Addressing::lds_counter;
  const bool two = name.starts_with("ds_read2") || name.starts_with("ds_write2") || has(name, "wrxchg2");
  return two ? Addressing::lds_two : Addressing::lds;
}

Addressing addressing_of(const Instruction& i, std::string_view name) {
  switch (i.encoding) {
  case Encoding::ds:
    return analysis::accesses_of(i) ? lds_addressing(name) : Addressing::none;
  case Encoding::global:
    return Addressing::global;
  case Encoding::flat:
    return Addressing::flat;
  case Encoding::scratch:
    return Addressing::scratch;
  case Encoding::mtbuf:
    return Addressing::typed_buffer;
  case Encoding::mubuf:
    return has(name, "_format_") ? Addressing::format_buffer : Addressing::buffer;
  case Encoding::smem:
    if (name.starts_with("s_scratch_")) return Addressing::scalar_scratch;
    return has(name, "buffer") ? Addressing::scalar_buffer : Addressing::scalar;
  default:
    return Addressing::none;
  }
}

} // namespace

AccessShape access_shape(const Instruction& i) {
  AccessShape shape;
  const std::string_view name = isa::name_of(i);
  const bool cache_control = i.traits.side_effects && !i.traits.atomic;
  if ((!i.traits.may_load && !i.traits.may_store) || cache_control) return shape;
  shape.addressing = addressing_of(i, name);
  if (shape.addressing == Addressing::none) return shape;
  const analysis::MemoryAccess access = analysis::memory_access(i);
  shape.atomic = i.traits.atomic;
  shape.bytes = analysis::access_bytes(name);
  if (shape.bytes == 0 && shape.atomic) shape.bytes = 4; // global_atomic_add, ds_append
  shape.reads = i.traits.may_load;
  shape.writes = i.traits.may_store;
  shape.coherent = access.coherent;
  shape.to_lds = i.traits.vmem && i.traits.lds;
  shape.gds = i.encoding == Encoding::ds && isa::fields::ds(i.words).gds;
  if (shape.to_lds)
    shape.lds_stride = shape.bytes <= 4 ? 4 : shape.bytes == 8 ? 8 : 16; // three dwords take the place of four
  if (shape.to_lds) shape.writes = false;                                // of the memory it loads from
  if (shape.addressing == Addressing::lds_two) {
    shape.bytes = has(name, "b64") ? 8 : 4;
    const uint32_t step = has(name, "st64") ? shape.bytes * 64 : shape.bytes;
    shape.offset[0] = (i.words[0] & 0xff) * step;
    shape.offset[1] = (i.words[0] >> 8 & 0xff) * step;
  }
  shape.quick = (shape.addressing == Addressing::lds || shape.addressing == Addressing::global) &&
                shape.reads != shape.writes && !shape.atomic && !shape.coherent && !shape.to_lds && !shape.gds;
  return shape;
}

} // namespace asmevo::machine
