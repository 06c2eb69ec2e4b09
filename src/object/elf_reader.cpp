#include "object/elf_reader.h"

#include "object/elf.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

namespace asmevo::object {

namespace {

constexpr uint64_t elf_header_size = 64, section_header_size = 64, program_header_size = 56, symbol_size = 24,
                   rela_size = 24;

std::string_view machine_name(uint16_t machine) {
  struct Row {
    uint16_t machine;
    std::string_view name;
  };
  static constexpr Row rows[] = {{3, "x86"},      {8, "MIPS"},    {20, "PowerPC"},   {21, "PowerPC64"},
                                 {40, "ARM"},     {62, "x86-64"}, {183, "AArch64"},  {190, "CUDA"},
                                 {243, "RISC-V"}, {247, "BPF"},   {258, "LoongArch"}};
  auto row = std::ranges::find(rows, machine, &Row::machine);
  return row == std::end(rows) ? "unknown" : row->name;
}

class Reader {
public:
  explicit Reader(CodeObject& object) : object_(object), bytes_(object.bytes), path_(object.path) {}

  Result<void> read() {
    AE_CHECK(identification());
    AE_CHECK(header());
    AE_CHECK(sections());
    AE_CHECK(segments());
    AE_CHECK(symbols());
    AE_CHECK(groups());
    return relocations();
  }

private:
  template <class T> T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  bool inside(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  Result<void> identification() {
    static constexpr uint8_t magic[4] = {0x7f, 'E', 'L', 'F'};
    if (bytes_.size() < 4 || !std::equal(magic, magic + 4, bytes_.begin())) return fail("{}: not an ELF file", path_);
    if (bytes_.size() < elf_header_size)
      return fail("{}: truncated: {} bytes, an ELF header has {}", path_, bytes_.size(), elf_header_size);
    if (bytes_[4] != 2) return fail("{}: not a 64-bit ELF file (class {})", path_, bytes_[4]);
    if (bytes_[5] != 1) return fail("{}: not a little-endian ELF file (data encoding {})", path_, bytes_[5]);
    if (uint16_t machine = at<uint16_t>(18); machine != elf::em_amdgpu)
      return fail("{}: ELF for machine {} ({}), an AMDGPU HSA code object is needed", path_, machine,
                  machine_name(machine));
    if (bytes_[7] != elf::osabi_amdgpu_hsa)
      return fail("{}: AMDGPU ELF for OS ABI {}, an AMDGPU HSA code object (OS ABI {}) is needed", path_, bytes_[7],
                  elf::osabi_amdgpu_hsa);
    if (bytes_[6] != 1) return fail("{}: unknown ELF version {}", path_, bytes_[6]);
    return {};
  }

  Result<void> header() {
    object_.abi_version = bytes_[8];
    if (object_.abi_version < 1 || object_.abi_version > 4)
      return fail("{}: code object version {} (ABI version {}), versions 3 to 6 are understood", path_,
                  object_.abi_version + 2, object_.abi_version);
    object_.elf_type = at<uint16_t>(16);
    if (object_.elf_type != elf::et_dyn && object_.elf_type != elf::et_rel)
      return fail("{}: ELF type {}, a shared (3) or relocatable (1) code object is needed", path_, object_.elf_type);
    object_.e_flags = at<uint32_t>(48);
    return {};
  }

  Result<void> sections() {
    uint64_t offset = at<uint64_t>(40);
    uint64_t count = at<uint16_t>(60), names = at<uint16_t>(62);
    if (offset == 0) return fail("{}: no section headers", path_);
    if (uint16_t size = at<uint16_t>(58); size != section_header_size)
      return fail("{}: section headers of {} bytes, {} expected", path_, size, section_header_size);
    if (!inside(offset, section_header_size))
      return fail("{}: truncated: section headers at {:#x}, file ends at {:#x}", path_, offset, bytes_.size());
    if (count == 0) count = at<uint64_t>(offset + 32); // more than 65,279 sections: the number is in section 0
    if (names == elf::shn_xindex) names = at<uint32_t>(offset + 40);
    if (count > bytes_.size() / section_header_size || !inside(offset, count * section_header_size))
      return fail("{}: truncated: {} section headers at {:#x}, file ends at {:#x}", path_, count, offset,
                  bytes_.size());
    std::vector<uint32_t> name_offsets;
    for (uint64_t i = 0; i < count; i++) {
      AE_TRY(Section section, section_header(i, offset + i * section_header_size));
      name_offsets.push_back(at<uint32_t>(offset + i * section_header_size));
      object_.sections.push_back(std::move(section));
    }
    if (names >= count) return fail("{}: section name table is section {} of {}", path_, names, count);
    for (uint64_t i = 0; i < count; i++) {
      AE_TRY(object_.sections[i].name, string(names, name_offsets[i], fmt::format("name of section {}", i)));
    }
    return {};
  }

  Result<Section> section_header(uint64_t index, uint64_t offset) {
    Section s;
    s.type = at<uint32_t>(offset + 4);
    s.flags = at<uint64_t>(offset + 8);
    s.address = at<uint64_t>(offset + 16);
    s.offset = at<uint64_t>(offset + 24);
    s.size = at<uint64_t>(offset + 32);
    s.link = at<uint32_t>(offset + 40);
    s.info = at<uint32_t>(offset + 44);
    s.alignment = at<uint64_t>(offset + 48);
    s.entry_size = at<uint64_t>(offset + 56);
    if (s.type == elf::sht_null) return s;
    if (s.type != elf::sht_nobits && !inside(s.offset, s.size))
      return fail("{}: truncated: section {} at {:#x} has {:#x} bytes, file ends at {:#x}", path_, index, s.offset,
                  s.size, bytes_.size());
    if (s.address + s.size < s.address)
      return fail("{}: section {} at address {:#x} has {:#x} bytes and wraps around", path_, index, s.address, s.size);
    if (s.alignment & (s.alignment - 1))
      return fail("{}: section {} has alignment {:#x}, not a power of two", path_, index, s.alignment);
    return s;
  }

  Result<void> segments() {
    uint64_t offset = at<uint64_t>(32), count = at<uint16_t>(56);
    if (offset == 0 || count == 0) return {};
    if (uint16_t size = at<uint16_t>(54); size != program_header_size)
      return fail("{}: program headers of {} bytes, {} expected", path_, size, program_header_size);
    if (!inside(offset, count * program_header_size))
      return fail("{}: truncated: {} program headers at {:#x}, file ends at {:#x}", path_, count, offset,
                  bytes_.size());
    for (uint64_t i = 0; i < count; i++, offset += program_header_size) {
      Segment s{.type = at<uint32_t>(offset),
                .flags = at<uint32_t>(offset + 4),
                .address = at<uint64_t>(offset + 16),
                .offset = at<uint64_t>(offset + 8),
                .file_size = at<uint64_t>(offset + 32),
                .memory_size = at<uint64_t>(offset + 40)};
      if (!inside(s.offset, s.file_size))
        return fail("{}: truncated: segment {} at {:#x} has {:#x} bytes, file ends at {:#x}", path_, i, s.offset,
                    s.file_size, bytes_.size());
      if (s.address + s.memory_size < s.address)
        return fail("{}: segment {} at address {:#x} has {:#x} bytes and wraps around", path_, i, s.address,
                    s.memory_size);
      object_.segments.push_back(s);
    }
    return {};
  }

  Result<std::string> string(uint64_t table, uint64_t offset, const std::string& what) {
    const Section& s = object_.sections[table];
    if (s.type != elf::sht_strtab) return fail("{}: {}: section {} is not a string table", path_, what, table);
    if (offset >= s.size)
      return fail("{}: {} is at {:#x} of a string table of {:#x} bytes", path_, what, offset, s.size);
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + s.offset + offset;
    const void* end = std::memchr(begin, 0, s.size - offset);
    if (!end) return fail("{}: {} does not end inside its string table", path_, what);
    return std::string(begin, static_cast<const char*>(end));
  }

  Result<std::vector<Symbol>> symbol_table(uint64_t index) {
    const Section& s = object_.sections[index];
    if (s.entry_size != symbol_size || s.size % symbol_size)
      return fail("{}: {} has {:#x} bytes in entries of {}, entries of {} expected", path_, s.name, s.size,
                  s.entry_size, symbol_size);
    if (s.link >= object_.sections.size())
      return fail("{}: {} has string table {}, no such section", path_, s.name, s.link);
    std::vector<Symbol> symbols;
    for (uint64_t i = 0; i < s.size / symbol_size; i++) {
      uint64_t entry = s.offset + i * symbol_size;
      Symbol symbol;
      AE_TRY(symbol.name, string(s.link, at<uint32_t>(entry), fmt::format("{}: name of symbol {}", s.name, i)));
      symbol.type = at<uint8_t>(entry + 4) & 15;
      symbol.binding = at<uint8_t>(entry + 4) >> 4;
      symbol.visibility = at<uint8_t>(entry + 5) & 3;
      symbol.section = at<uint16_t>(entry + 6);
      symbol.value = at<uint64_t>(entry + 8);
      symbol.size = at<uint64_t>(entry + 16);
      symbol.dynamic = s.type == elf::sht_dynsym;
      if (symbol.section < elf::shn_loreserve && symbol.section >= object_.sections.size())
        return fail("{}: {}: symbol {} is in section {}, no such section", path_, s.name, i, symbol.section);
      symbols.push_back(std::move(symbol));
    }
    return symbols;
  }

  // Relocations name a symbol by its place in their own table, which for a linked object is .dynsym. `dynamic_index_`
  // says where each .dynsym entry is in object_.symbols.
  Result<void> symbols() {
    auto find = [&](uint32_t type) {
      return size_t(std::ranges::find(object_.sections, type, &Section::type) - object_.sections.begin());
    };
    size_t full = find(elf::sht_symtab), dynamic = find(elf::sht_dynsym);
    if (full < object_.sections.size()) {
      full_table_ = full;
      AE_TRY(object_.symbols, symbol_table(full));
    }
    if (dynamic == object_.sections.size()) return {};
    dynamic_table_ = dynamic;
    AE_TRY(auto entries, symbol_table(dynamic));
    std::unordered_map<std::string, uint32_t> known;
    for (uint32_t i = 0; i < object_.symbols.size(); i++)
      if (object_.symbols[i].binding != elf::stb_local) known.emplace(object_.symbols[i].name, i);
    for (Symbol& symbol : entries) {
      auto place = symbol.name.empty() && !object_.symbols.empty() ? known.end() : known.find(symbol.name);
      if (symbol.name.empty() && !object_.symbols.empty()) {
        dynamic_index_.push_back(0);
      } else if (place != known.end() && object_.symbols[place->second].value == symbol.value) {
        dynamic_index_.push_back(place->second);
        object_.symbols[place->second].dynamic = true;
      } else {
        dynamic_index_.push_back(uint32_t(object_.symbols.size()));
        object_.symbols.push_back(std::move(symbol));
      }
    }
    return {};
  }

  // A section group is a section that lists others: a word of flags, then indices. A symbol says what it is called.
  Result<void> groups() {
    for (const Section& s : object_.sections)
      if (s.type == elf::sht_group) AE_CHECK(group(s));
    return {};
  }

  Result<void> group(const Section& s) {
    if (s.size < 4 || s.size % 4 || s.link != full_table_ || s.info >= object_.symbols.size())
      return fail("{}: {}: a section group of {:#x} bytes called by symbol {} of section {} is not understood", path_,
                  s.name, s.size, s.info, s.link);
    const Symbol& symbol = object_.symbols[s.info];
    bool by_section = symbol.type == elf::stt_section && symbol.section < object_.sections.size();
    std::string signature = by_section ? object_.sections[symbol.section].name : symbol.name;
    for (uint64_t at = s.offset + 4; at < s.offset + s.size; at += 4) {
      uint32_t index = this->at<uint32_t>(at);
      if (index >= object_.sections.size())
        return fail("{}: {}: a section group names section {}, no such section", path_, s.name, index);
      object_.sections[index].group = signature;
      object_.sections[index].comdat = this->at<uint32_t>(s.offset) & elf::grp_comdat;
    }
    return {};
  }

  Result<uint32_t> symbol_index(const Section& table, uint32_t index) {
    if (table.link == full_table_ && full_table_ != 0) {
      if (index < object_.symbols.size()) return index;
    } else if (table.link == dynamic_table_ && dynamic_table_ != 0) {
      if (index < dynamic_index_.size()) return dynamic_index_[index];
    } else if (index == 0) { // nobody; a file without a symbol table gets one to look at
      if (object_.symbols.empty()) object_.symbols.emplace_back();
      return 0;
    }
    return fail("{}: {}: a relocation names symbol {}, no such symbol", path_, table.name, index);
  }

  Result<void> relocations() {
    for (const Section& s : object_.sections) {
      if (s.type == elf::sht_rel || s.type == elf::sht_relr)
        return fail("{}: {}: relocations without addends (section type {}) are not used on AMDGPU", path_, s.name,
                    s.type);
      if (s.type == elf::sht_rela && !is_left_over(object_, s)) AE_CHECK(rela(s));
    }
    return {};
  }

  Result<void> rela(const Section& table) {
    if (table.entry_size != rela_size || table.size % rela_size)
      return fail("{}: {} has {:#x} bytes in entries of {}, entries of {} expected", path_, table.name, table.size,
                  table.entry_size, rela_size);
    bool relocatable = object_.elf_type == elf::et_rel;
    if (relocatable && (table.info == 0 || table.info >= object_.sections.size()))
      return fail("{}: {} relocates section {}, no such section", path_, table.name, table.info);
    for (uint64_t entry = table.offset; entry < table.offset + table.size; entry += rela_size) {
      Relocation r;
      r.address = at<uint64_t>(entry);
      r.type = at<uint32_t>(entry + 8);
      AE_TRY(r.symbol, symbol_index(table, at<uint32_t>(entry + 12)));
      r.addend = at<int64_t>(entry + 16);
      if (relocatable) {
        r.section = table.info;
      } else {
        const Section* patched = object_.section_at(r.address);
        if (!patched) return fail("{}: {}: relocation at {:#x} is in no section", path_, table.name, r.address);
        r.section = uint32_t(patched - object_.sections.data());
      }
      object_.relocations.push_back(r);
    }
    return {};
  }

  CodeObject& object_;
  std::span<const uint8_t> bytes_;
  const std::string& path_;
  size_t full_table_ = 0, dynamic_table_ = 0;
  std::vector<uint32_t> dynamic_index_;
};

} // namespace

bool is_left_over(const CodeObject& object, const Section& s) {
  return object.elf_type == elf::et_dyn && s.type == elf::sht_rela && !(s.flags & elf::shf_alloc);
}

Result<void> read_elf(CodeObject& object) { return Reader(object).read(); }

} // namespace asmevo::object
