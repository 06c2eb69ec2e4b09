#include "object/code_extent.h"

#include "object/elf.h"

#include <algorithm>

namespace asmevo::object {

constexpr uint64_t widest_gap = uint64_t{16} << 20; // bytes

Result<CodeExtent> code_extent(const CodeObject& object) {
  CodeExtent code;
  for (size_t i = 0; i < object.sections.size(); i++) {
    const Section& s = object.sections[i];
    if (!(s.flags & elf::shf_execinstr) || s.size == 0 || s.type == elf::sht_null) continue;
    if (s.type != elf::sht_progbits) return fail("{}: code section {} has type {}", object.path, s.name, s.type);
    code.sections.push_back(i);
  }
  if (code.sections.empty()) return fail("{}: no code section", object.path);
  std::ranges::stable_sort(code.sections, {}, [&](size_t i) { return object.sections[i].address; });
  const Section& first = object.sections[code.sections.front()];
  code.address = first.address;
  code.bytes = object.data(first);
  if (code.sections.size() == 1) return code;
  for (size_t i : code.sections) {
    const Section& s = object.sections[i];
    uint64_t offset = s.address - code.address;
    if (offset < code.joined.size() || offset - code.joined.size() > widest_gap)
      return fail("{}: code section {} at {:#x} {} the one before it, which ends at {:#x}", object.path, s.name,
                  s.address, offset < code.joined.size() ? "overlaps" : "lies too far behind",
                  code.address + code.joined.size());
    code.joined.resize(offset);
    auto content = object.data(s);
    code.joined.insert(code.joined.end(), content.begin(), content.end());
  }
  code.bytes = code.joined;
  return code;
}

} // namespace asmevo::object
