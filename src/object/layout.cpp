// Laying out a relocatable object.
//
// A relocatable code object (ET_REL) is what the assembler leaves for the linker: every section starts at address 0 and
// each kernel descriptor holds a relocation where the distance to its code belongs. To look at such an object like at a
// linked one, its sections get addresses here, and every relocation that depends only on distances is resolved in a
// copy of the bytes. Relocations that need the load address stay for the loader.
#include "object/elf.h"
#include "object/elf_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace asmevo::object {

namespace {

constexpr uint64_t page = 0x1000, first_address = 0x200;

int layout_class(const Section& s) {
  if (s.flags & elf::shf_execinstr) return 1;
  return s.flags & elf::shf_write ? 2 : 0;
}

Result<void> assign_addresses(CodeObject& object) {
  uint64_t address = first_address;
  bool first_code = true;
  for (int wanted = 0; wanted < 3; wanted++) {
    if (wanted) address = (address + page - 1) / page * page;
    for (Section& s : object.sections) {
      if (!(s.flags & elf::shf_alloc) || s.type == elf::sht_null || layout_class(s) != wanted) continue;
      uint64_t alignment = std::max<uint64_t>(s.alignment, 1);
      if (alignment > uint64_t{1} << 32 || s.size > uint64_t{1} << 40)
        return fail("{}: section {} of {:#x} bytes with alignment {:#x} cannot be laid out", object.path, s.name,
                    s.size, alignment);
      // The end of one function's section must not be the start of the next one's: labels stand at both.
      if (wanted == 1 && !std::exchange(first_code, false)) address += 4;
      address = (address + alignment - 1) / alignment * alignment;
      s.address = address;
      address += s.size;
    }
  }
  return {};
}

struct RelocationKind {
  uint32_t type;
  uint8_t size;
  bool relative; // resolved from distances alone
};

constexpr RelocationKind kinds[] = {
    {elf::r_none, 0, false},          {elf::r_abs32_lo, 4, false}, {elf::r_abs32_hi, 4, false},
    {elf::r_abs64, 8, false},         {elf::r_rel32, 4, true},     {elf::r_rel64, 8, true},
    {elf::r_abs32, 4, false},         {elf::r_gotpcrel, 4, false}, {elf::r_gotpcrel32_lo, 4, false},
    {elf::r_gotpcrel32_hi, 4, false}, {elf::r_rel32_lo, 4, true},  {elf::r_rel32_hi, 4, true},
    {elf::r_relative64, 8, false},    {elf::r_rel16, 2, true},
};

// S + A - P, and the part of it that the type stores.
uint64_t relative_value(const Relocation& r, const Symbol& symbol) {
  uint64_t distance = symbol.value + uint64_t(r.addend) - r.address;
  if (r.type == elf::r_rel32_hi) return distance >> 32;
  if (r.type == elf::r_rel16) return uint64_t((int64_t(distance) - 4) / 4);
  return distance;
}

Result<void> relocate(CodeObject& object, Relocation& r) {
  const Section& s = object.sections[r.section];
  auto kind = std::ranges::find(kinds, r.type, &RelocationKind::type);
  if (kind == std::end(kinds))
    return fail("{}: {}+{:#x}: unknown relocation type {}", object.path, s.name, r.address, r.type);
  if (s.type == elf::sht_nobits || r.address > s.size || kind->size > s.size - r.address)
    return fail("{}: {}+{:#x}: relocation outside the section's {:#x} bytes", object.path, s.name, r.address, s.size);
  if (!(s.flags & elf::shf_alloc)) return {};
  uint64_t place = s.offset + r.address;
  r.address += s.address;
  const Symbol& symbol = object.symbols[r.symbol];
  if (!kind->relative || symbol.section == elf::shn_undef || symbol.section >= elf::shn_loreserve) return {};
  uint64_t value = relative_value(r, symbol);
  std::memcpy(object.linked.data() + place, &value, kind->size);
  return {};
}

} // namespace

Result<void> lay_out(CodeObject& object) {
  AE_CHECK(assign_addresses(object));
  object.linked = object.bytes;
  for (Symbol& symbol : object.symbols)
    if (symbol.section != elf::shn_undef && symbol.section < elf::shn_loreserve)
      symbol.value += object.sections[symbol.section].address;
  for (Relocation& r : object.relocations) AE_CHECK(relocate(object, r));
  return {};
}

} // namespace asmevo::object
