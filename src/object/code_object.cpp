#include "object/code_object.h"

#include "object/elf.h"
#include "object/elf_reader.h"
#include "object/metadata.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace asmevo::object {

namespace {

constexpr std::string_view descriptor_suffix = ".kd";

bool is_defined(const Symbol& s) { return s.section != elf::shn_undef && s.section < elf::shn_loreserve; }

Result<Kernel> read_kernel(const CodeObject& object, const Symbol& symbol) {
  Kernel kernel;
  kernel.name = symbol.name.substr(0, symbol.name.size() - descriptor_suffix.size());
  kernel.descriptor_address = symbol.value;
  const Section& s = object.sections[symbol.section];
  auto content = object.data(s);
  uint64_t at = symbol.value - s.address;
  if (symbol.value < s.address || at > content.size() || content.size() - at < 64)
    return fail("{}: {}: a kernel descriptor of 64 bytes at {:#x} does not lie in {} ({:#x} to {:#x})", object.path,
                symbol.name, symbol.value, s.name, s.address, s.address + content.size());
  std::memcpy(kernel.descriptor.raw.data(), content.data() + at, 64);
  kernel.entry_address = symbol.value + uint64_t(kernel.descriptor.kernel_code_entry_byte_offset());
  const Section* code = object.section_at(kernel.entry_address);
  if (!code || !(code->flags & elf::shf_execinstr) || code->type == elf::sht_nobits)
    return fail("{}: {}: entry at {:#x} is not in a code section", object.path, symbol.name, kernel.entry_address);
  return kernel;
}

// Kernels are what has a descriptor: an object symbol `<name>.kd` in a section with content.
Result<void> find_kernels(CodeObject& object) {
  std::unordered_map<std::string_view, uint64_t> code_sizes;
  for (const Symbol& symbol : object.symbols)
    if (symbol.type == elf::stt_func) code_sizes.emplace(symbol.name, symbol.size);
  std::unordered_map<std::string_view, uint64_t> seen;
  for (const Symbol& symbol : object.symbols) {
    if (!symbol.name.ends_with(descriptor_suffix) || symbol.name == descriptor_suffix || !is_defined(symbol)) continue;
    if (auto [first, fresh] = seen.emplace(symbol.name, symbol.value); !fresh) {
      if (first->second == symbol.value) continue;
      return fail("{}: two kernel descriptors are named {}", object.path, symbol.name);
    }
    AE_TRY(Kernel kernel, read_kernel(object, symbol));
    if (auto size = code_sizes.find(kernel.name); size != code_sizes.end()) kernel.code_size = size->second;
    object.kernels.push_back(std::move(kernel));
  }
  if (object.kernels.empty()) return fail("{}: no kernel (no symbol <name>.kd)", object.path);
  std::ranges::stable_sort(object.kernels, {}, &Kernel::entry_address);
  return {};
}

Result<void> attach_metadata(CodeObject& object) {
  AE_CHECK(find_metadata_note(object));
  if (object.metadata_note.empty()) return {};
  AE_TRY(Metadata metadata, read_metadata(object.metadata_note, object.path));
  object.metadata_target = std::move(metadata.target);
  std::unordered_map<std::string_view, Kernel*> by_name;
  for (Kernel& kernel : object.kernels) by_name.emplace(kernel.name, &kernel);
  for (KernelMetadata& m : metadata.kernels) {
    std::string_view name = m.symbol.ends_with(descriptor_suffix)
                                ? std::string_view(m.symbol).substr(0, m.symbol.size() - descriptor_suffix.size())
                                : std::string_view(m.name);
    auto kernel = by_name.find(name);
    if (kernel == by_name.end())
      return fail("{}: metadata: kernel {} has no descriptor symbol {}.kd", object.path, name, name);
    if (!kernel->second->metadata) kernel->second->metadata = std::move(m);
  }
  return {};
}

std::string listed(const std::vector<Kernel>& kernels) {
  constexpr size_t most = 20;
  std::string text;
  for (size_t i = 0; i < std::min(kernels.size(), most); i++) text += (i ? ", " : "") + kernels[i].name;
  if (kernels.size() > most) text += fmt::format(" and {} more", kernels.size() - most);
  return text;
}

} // namespace

std::span<const uint8_t> CodeObject::data(const Section& section) const {
  if (section.type == elf::sht_nobits || section.type == elf::sht_null) return {};
  const Bytes& from = linked.empty() ? bytes : linked;
  return std::span(from).subspan(section.offset, section.size);
}

const Section* CodeObject::section(std::string_view name) const {
  auto place = std::ranges::find(sections, name, &Section::name);
  return place == sections.end() ? nullptr : &*place;
}

const Section* CodeObject::section_at(uint64_t address) const {
  for (const Section& s : sections)
    if ((s.flags & elf::shf_alloc) && s.type != elf::sht_null && address >= s.address && address - s.address < s.size)
      return &s;
  return nullptr;
}

const Kernel* CodeObject::kernel(std::string_view name) const {
  auto place = std::ranges::find(kernels, name, &Kernel::name);
  return place == kernels.end() ? nullptr : &*place;
}

Result<CodeObject> read_code_object(Bytes bytes, const std::string& path) {
  CodeObject object;
  object.path = path;
  object.bytes = std::move(bytes);
  AE_CHECK(read_elf(object));
  if (object.elf_type == elf::et_rel) AE_CHECK(lay_out(object));
  AE_CHECK(find_kernels(object));
  AE_CHECK(attach_metadata(object));
  return object;
}

Result<const Kernel*> choose_kernel(const CodeObject& object, const std::string& name) {
  if (name.empty()) {
    if (object.kernels.size() == 1) return &object.kernels.front();
    return fail("{}: {} kernels, name one of them: {}", object.path, object.kernels.size(), listed(object.kernels));
  }
  if (const Kernel* kernel = object.kernel(name)) return kernel;
  return fail("{}: no kernel {}; there is {}", object.path, name, listed(object.kernels));
}

} // namespace asmevo::object
