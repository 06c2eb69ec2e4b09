// What two code objects have in common, judged twice.
//
// The round-trip gate asks whether an unedited rebuild is the original up to what only a linker decides. The ABI check
// asks less: whether a host program and the loader could tell a replacement from the original before it runs. Both name
// the first thing that differs in words, because "differs" alone helps nobody.
#include "object/elf.h"
#include "object/elf_reader.h"
#include "object/metadata.h"
#include "recover/debug.h"
#include "recover/descriptor.h"
#include "recover/recover.h"
#include "recover/sections.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace asmevo::recover {

namespace {

// The hardware takes entry addresses in units of 256 bytes. Source: LLVM AMDGPUUsage, "Kernel Descriptor".
constexpr uint64_t entry_alignment = 256;

namespace elf = object::elf;
using object::CodeObject;
using object::Kernel;
using object::Section;
using object::Symbol;
using object::msgpack::Kind;
using object::msgpack::Value;

constexpr size_t most_differences = 20;
constexpr size_t entry_at = 16, entry_end = 24;

// --- Symbols ---------------------------------------------------------------------------------------------------------

std::string section_name(const CodeObject& object, const Symbol& s) {
  if (s.section == elf::shn_undef) return "undefined";
  if (s.section == elf::shn_abs) return "absolute";
  return s.section < object.sections.size() ? object.sections[s.section].name : "reserved";
}

std::string describe(const CodeObject& object, const Symbol& s) {
  bool placed = s.section != elf::shn_undef && s.section < elf::shn_loreserve;
  uint64_t value = placed ? s.value - object.sections[s.section].address : s.value;
  return fmt::format("{} (type {}, binding {}, visibility {}, size {}, {}+{:#x})", s.name, s.type, s.binding,
                     s.visibility, s.size, section_name(object, s), value);
}

std::multiset<std::string> symbol_set(const CodeObject& object) {
  std::multiset<std::string> set;
  for (const Symbol& s : object.symbols) {
    bool placed = s.section != elf::shn_undef && s.section < elf::shn_loreserve;
    if (is_linker_symbol(s) || (placed && role(object, object.sections[s.section]) != Role::content)) continue;
    set.insert(describe(object, s));
  }
  return set;
}

// --- Round trip ------------------------------------------------------------------------------------------------------

class RoundTripper {
public:
  RoundTripper(const Program& program, const isa::Codec& codec)
      : program_(program), codec_(codec), before_(*program.origin) {}

  Result<RoundTrip> run() {
    count();
    result_.masked = {"file offsets and addresses of sections and segments",
                      "kernel_code_entry_byte_offset of descriptors (the entry it leads to is compared)",
                      ".dynsym, .dynstr, .hash, .gnu.hash, .dynamic, .got, .relro_padding, section and string tables",
                      "order of symbols",
                      "the linker's own line in .comment",
                      "merge and string flags of linked sections"};
    auto rebuilt = build(program_, codec_);
    if (!rebuilt) {
      differ("the listing does not build: line {}: {}", rebuilt.error().line, rebuilt.error().message);
      return std::move(result_);
    }
    AE_TRY(DebugKept kept, keep_debug(std::move(*rebuilt), before_));
    debug_dropped_ = std::move(kept.dropped);
    result_.rebuilt = kept.bytes;
    AE_TRY(CodeObject after, object::read_code_object(std::move(kept.bytes), before_.path + " (rebuilt)"));
    after_ = std::make_shared<CodeObject>(std::move(after));
    compare_header();
    AE_CHECK(compare_code());
    compare_kernels();
    compare_symbols();
    compare_sections();
    compare_relocations();
    return std::move(result_);
  }

private:
  template <class... Args> void differ(fmt::format_string<Args...> format, Args&&... args) {
    if (result_.differences.size() < most_differences)
      result_.differences.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void count() {
    for (const Item& item : program_.items) {
      result_.instructions += item.kind == ItemKind::instruction;
      result_.repairs += item.raw;
      result_.data_words += item.kind == ItemKind::data ? (item.data_size + 3) / 4 : 0;
    }
  }

  void compare_header() {
    if (before_.e_flags != after_->e_flags) differ("e_flags {:#x}, rebuilt {:#x}", before_.e_flags, after_->e_flags);
    if (before_.abi_version != after_->abi_version)
      differ("ABI version {}, rebuilt {}", before_.abi_version, after_->abi_version);
    if (before_.elf_type != after_->elf_type) differ("ELF type {}, rebuilt {}", before_.elf_type, after_->elf_type);
    if (before_.metadata_note != after_->metadata_note) differ("metadata note differs");
  }

  std::span<const uint8_t> stored(const CodeObject& object, const Section& s) const {
    if (s.type == elf::sht_nobits) return {};
    return std::span(object.bytes).subspan(s.offset, s.size);
  }

  // A code section and what has become of it.
  struct Code {
    const Section* before = nullptr;
    const Section* after = nullptr;
    std::span<const uint8_t> old_bytes, new_bytes;
  };

  Result<void> compare_code() {
    bool same = true;
    for (size_t i : program_.surroundings->code_sections) {
      const Section& s = before_.sections[i];
      const Section* rebuilt = counterpart(before_, s, *after_);
      if (!rebuilt) {
        differ("{} is missing", s.name);
        return {};
      }
      code_.push_back({&s, rebuilt, stored(before_, s), stored(*after_, *rebuilt)});
      same &= std::ranges::equal(code_.back().old_bytes, code_.back().new_bytes);
      if (s.size == rebuilt->size && s.flags == rebuilt->flags) continue;
      differ("{} has {:#x} bytes and flags {:#x}, rebuilt {:#x} and {:#x}", s.name, s.size, s.flags, rebuilt->size,
             rebuilt->flags);
      return {};
    }
    if (same) return {};
    // Distances to other sections follow the layout: there, what they lead to must be the same.
    AE_TRY(Program again, recover(after_, codec_));
    compare_items(again);
    return {};
  }

  const Code& code_of(uint64_t address) const {
    auto behind = std::ranges::upper_bound(code_, address, {}, [](const Code& c) { return c.before->address; });
    return *std::prev(behind);
  }

  void compare_items(const Program& again) {
    bool masked = false;
    std::map<std::string, uint64_t> old_places = places(program_), new_places = places(again);
    for (size_t i = 0; i < program_.items.size(); i++) {
      const Item& item = program_.items[i];
      if (item.kind == ItemKind::data || item.kind == ItemKind::align) compare_data(i);
      if (item.kind != ItemKind::instruction) continue;
      const Code& code = code_of(uint64_t(item.origin));
      uint64_t offset = uint64_t(item.origin) - code.before->address;
      if (std::memcmp(code.old_bytes.data() + offset, code.new_bytes.data() + offset, item.size()) == 0) continue;
      const Item* other = i < again.items.size() ? &again.items[i] : nullptr;
      bool same = other && other->instruction.words[0] == item.instruction.words[0] && !item.target.empty() &&
                  item.text.find("rel32@") != std::string::npos &&
                  where(before_, old_places, item.target) == where(*after_, new_places, other->target);
      if (same)
        masked = true;
      else
        differ("{}+{:#x}: {} differs", code.before->name, offset, item.text);
    }
    if (masked) result_.masked.push_back("distances from code to other sections (what they lead to is compared)");
  }

  void compare_data(size_t i) {
    const Item& item = program_.items[i];
    if (item.text.starts_with(".quad") || !item.target.empty()) return; // an address: relocations are compared
    const Code& code = code_of(uint64_t(item.origin));
    uint64_t begin = uint64_t(item.origin) - code.before->address, end = begin + item.data_size;
    if (item.kind == ItemKind::align)
      end = i + 1 < program_.items.size() ? uint64_t(program_.items[i + 1].origin) - code.before->address
                                          : code.old_bytes.size();
    end = std::min<uint64_t>(end, code.old_bytes.size());
    if (!std::equal(code.old_bytes.begin() + begin, code.old_bytes.begin() + end, code.new_bytes.begin() + begin))
      differ("{}+{:#x}: data differs", code.before->name, begin);
  }

  static std::map<std::string, uint64_t> places(const Program& program) {
    std::map<std::string, uint64_t> map;
    for (const auto& place : program.surroundings->places) map[place.name] = place.address;
    for (size_t i = 0; i < program.origin->symbols.size(); i++)
      map.emplace(program.surroundings->symbol_names[i], program.origin->symbols[i].value);
    return map;
  }

  static std::string where(const CodeObject& object, const std::map<std::string, uint64_t>& places,
                           const std::string& name) {
    auto place = places.find(name);
    if (place == places.end()) return name;
    const Section* s = object.section_at(place->second);
    return s ? fmt::format("{}+{:#x}", s->name, place->second - s->address) : name;
  }

  void compare_kernels() {
    for (const Kernel& k : before_.kernels) {
      const Kernel* other = after_->kernel(k.name);
      if (!other) {
        differ("kernel {} is missing", k.name);
        continue;
      }
      for (size_t i = 0; i < 64; i++) {
        if ((i >= entry_at && i < entry_end) || k.descriptor.raw[i] == other->descriptor.raw[i]) continue;
        differ("{}.kd+{}: {:#04x}, rebuilt {:#04x}", k.name, i, k.descriptor.raw[i], other->descriptor.raw[i]);
        break;
      }
      const Section* code_after = after_->section_at(other->entry_address);
      const Section* code_before = before_.section_at(k.entry_address);
      if (!code_after || counterpart(before_, *code_before, *after_) != code_after ||
          k.entry_address - code_before->address != other->entry_address - code_after->address)
        differ("{}: entry at {:#x} of the code, rebuilt {:#x}", k.name, k.entry_address - code_before->address,
               other->entry_address - (code_after ? code_after->address : 0));
    }
    if (before_.kernels.size() != after_->kernels.size())
      differ("{} kernels, rebuilt {}", before_.kernels.size(), after_->kernels.size());
  }

  void compare_symbols() {
    auto old_set = symbol_set(before_), new_set = symbol_set(*after_);
    std::vector<std::string> lost, added;
    std::ranges::set_difference(old_set, new_set, std::back_inserter(lost));
    std::ranges::set_difference(new_set, old_set, std::back_inserter(added));
    for (const auto& s : lost) differ("symbol lost: {}", s);
    for (const auto& s : added) differ("symbol added: {}", s);
  }

  void compare_sections() {
    for (size_t i = 1; i < before_.sections.size(); i++) {
      const Section& s = before_.sections[i];
      if (program_.surroundings->is_code(i)) continue;
      Role r = role(before_, s);
      if (r == Role::dropped && debug_dropped_.empty()) compare_content(s);
      if (r == Role::comment) compare_comment(s);
      if (r == Role::content) compare_content(s);
      if (object::is_left_over(before_, s))
        result_.masked.push_back(fmt::format("{} (dropped: applied relocations that no loader reads)", s.name));
      if (s.type == elf::sht_llvm_addrsig)
        result_.masked.push_back(".llvm_addrsig (dropped: it tells a linker which addresses are compared)");
      if (r == Role::rebuilt && s.type == elf::sht_note) compare_notes(s);
    }
    if (!debug_dropped_.empty())
      result_.masked.push_back(fmt::format("debug information (dropped: {})", debug_dropped_));
  }

  // The section that holds the metadata note is made again with that note alone.
  void compare_notes(const Section& s) {
    constexpr uint64_t header = 20; // of the metadata note, with its name
    uint64_t metadata = header + (before_.metadata_note.size() + 3) / 4 * 4;
    if (s.size > metadata)
      result_.masked.push_back(
          fmt::format("{} bytes of other notes beside the metadata in {} (dropped)", s.size - metadata, s.name));
  }

  void compare_content(const Section& s) {
    const Section* other = counterpart(before_, s, *after_);
    if (!other) {
      if (s.size) differ("section {} is missing", s.name);
      return;
    }
    uint64_t ignored = before_.elf_type == elf::et_dyn ? elf::shf_merge | elf::shf_strings : 0;
    if (s.type != other->type || ((s.flags ^ other->flags) & ~ignored) || s.size != other->size)
      return differ("section {}: type {}, flags {:#x}, {} bytes; rebuilt {}, {:#x}, {}", s.name, s.type, s.flags,
                    s.size, other->type, other->flags, other->size);
    Bytes a(stored(before_, s).begin(), stored(before_, s).end());
    Bytes b(stored(*after_, *other).begin(), stored(*after_, *other).end());
    blank(a, b, s);
    auto [at, _] = std::ranges::mismatch(a, b);
    if (at != a.end()) differ("{}+{:#x} differs", s.name, at - a.begin());
  }

  // Words that relocations fill, and the entry offsets of descriptors, are compared by what they mean.
  void blank(Bytes& a, Bytes& b, const Section& s) const {
    auto clear = [&](uint64_t address, size_t size) {
      if (address < s.address || address - s.address + size > a.size()) return;
      std::memset(a.data() + (address - s.address), 0, size);
      std::memset(b.data() + (address - s.address), 0, size);
    };
    for (const Kernel& k : before_.kernels) clear(k.descriptor_address + entry_at, entry_end - entry_at);
    for (const auto& r : program_.surroundings->references) clear(r.address, r.size);
  }

  static std::set<std::string> comments(std::span<const uint8_t> bytes) {
    std::set<std::string> lines;
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (!text.empty()) {
      std::string_view line = text.substr(0, text.find('\0'));
      if (!line.empty() && !line.starts_with("Linker:")) lines.emplace(line);
      text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return lines;
  }

  void compare_comment(const Section& s) {
    const Section* other = after_->section(s.name);
    auto old_lines = comments(stored(before_, s));
    auto new_lines = other ? comments(stored(*after_, *other)) : std::set<std::string>();
    if (old_lines != new_lines) differ("section {} differs", s.name);
  }

  std::multiset<std::string> relocation_set(const CodeObject& object) const {
    std::multiset<std::string> set;
    for (const object::Relocation& r : object.relocations) {
      const Section& s = object.sections[r.section];
      if (role(object, s) == Role::dropped || s.name == ".got") continue;
      const Symbol& symbol = object.symbols[r.symbol];
      uint64_t target = uint64_t(r.addend);
      bool placed = symbol.section != elf::shn_undef && symbol.section < elf::shn_loreserve;
      if (placed) target += symbol.value;
      const Section* into = r.type == elf::r_relative64 || placed ? object.section_at(target) : nullptr;
      std::string meaning = into ? fmt::format("{}+{:#x}", into->name, target - into->address)
                                 : fmt::format("{}+{:#x}", symbol.name, r.addend);
      set.insert(fmt::format("{}+{:#x} type {} to {}", s.name, r.address - s.address, r.type, meaning));
    }
    return set;
  }

  void compare_relocations() {
    auto old_set = relocation_set(before_), new_set = relocation_set(*after_);
    std::vector<std::string> lost, added;
    std::ranges::set_difference(old_set, new_set, std::back_inserter(lost));
    std::ranges::set_difference(new_set, old_set, std::back_inserter(added));
    for (const auto& r : lost) differ("relocation lost: {}", r);
    for (const auto& r : added) differ("relocation added: {}", r);
  }

  const Program& program_;
  const isa::Codec& codec_;
  const CodeObject& before_;
  std::shared_ptr<CodeObject> after_;
  std::vector<Code> code_; // by address
  RoundTrip result_;
  std::string debug_dropped_;
};

// --- ABI -------------------------------------------------------------------------------------------------------------

bool is_register_count(std::string_view key) {
  return key == ".vgpr_count" || key == ".agpr_count" || key == ".sgpr_count";
}

// The path of the first difference between two metadata values, register counts aside.
std::optional<std::string> difference(const Value& a, const Value& b, const std::string& path) {
  if (a.kind != b.kind || a.integer != b.integer || a.number != b.number || a.real != b.real || a.text != b.text)
    return path;
  if (a.items.size() != b.items.size()) return path + " (number of entries)";
  if (a.kind == Kind::map) {
    for (size_t i = 0; i + 1 < a.items.size(); i += 2) {
      const std::string& key = a.items[i].text;
      const Value* other = b.find(key);
      if (!other) return fmt::format("{}: {} is missing", path, key);
      if (is_register_count(key)) continue;
      if (auto d = difference(a.items[i + 1], *other, path.empty() ? key : path + " " + key)) return d;
    }
    return std::nullopt;
  }
  for (size_t i = 0; i < a.items.size(); i++)
    if (auto d = difference(a.items[i], b.items[i], fmt::format("{}[{}]", path, i))) return d;
  return std::nullopt;
}

std::optional<std::string> metadata_difference(const CodeObject& a, const CodeObject& b) {
  if (a.metadata_note.empty() != b.metadata_note.empty()) return "one of them has no metadata";
  if (a.metadata_note.empty() || a.metadata_note == b.metadata_note) return std::nullopt;
  auto first = object::msgpack::parse(a.metadata_note), second = object::msgpack::parse(b.metadata_note);
  if (!first || !second) return "metadata cannot be read";
  if (auto d = difference(*first, *second, "")) return "metadata differs at " + *d;
  return std::nullopt;
}

// Granulated register counts and accum_offset may follow the code; nothing else of a descriptor may.
std::optional<std::string> descriptor_difference(const Kernel& a, const Kernel& b) {
  struct Row {
    std::string_view name;
    size_t byte;
    uint32_t mask;
  };
  static constexpr Row rows[] = {
      {"group_segment_fixed_size", 0, ~0u}, {"private_segment_fixed_size", 4, ~0u}, {"kernarg_size", 8, ~0u},
      {"compute_pgm_rsrc3", 44, ~0x3fu},    {"compute_pgm_rsrc1", 48, ~0x3ffu},     {"compute_pgm_rsrc2", 52, ~0u},
      {"kernel_code_properties", 56, ~0u}};
  for (const Row& r : rows) {
    uint32_t x = a.descriptor.word(r.byte) & r.mask, y = b.descriptor.word(r.byte) & r.mask;
    if (x != y) return fmt::format("kernel {}: {} {:#x}, candidate {:#x}", a.name, r.name, x, y);
  }
  return std::nullopt;
}

using Interface = std::map<std::string, std::string>;

// What the loader can look up.
Interface exported(const CodeObject& object) {
  Interface symbols;
  for (const Symbol& s : object.symbols) {
    if (s.binding == elf::stb_local || is_linker_symbol(s) || s.visibility == elf::stv_hidden) continue;
    bool function = s.type == elf::stt_func;
    symbols[s.name] = fmt::format("type {}, binding {}, visibility {}, size {}", s.type, s.binding, s.visibility,
                                  function ? 0 : s.size);
  }
  return symbols;
}

std::optional<std::string> symbol_difference(const CodeObject& a, const CodeObject& b) {
  Interface first = exported(a), second = exported(b);
  for (const auto& [name, facts] : first) {
    auto other = second.find(name);
    if (other == second.end()) return fmt::format("symbol {} is missing", name);
    if (other->second != facts) return fmt::format("symbol {}: {}; candidate {}", name, facts, other->second);
  }
  for (const auto& [name, facts] : second)
    if (!first.contains(name)) return fmt::format("symbol {} is new", name);
  return std::nullopt;
}

// Memory of its own would let a candidate know how often it has been launched.
std::optional<std::string> variables_difference(const CodeObject& a, const CodeObject& b) {
  auto sizes = [](const CodeObject& object) {
    std::map<std::string, uint64_t> map;
    for (const Section& s : object.sections)
      if ((s.flags & elf::shf_alloc) && (s.flags & elf::shf_write) && role(object, s) == Role::content)
        map[s.name] += s.size;
    std::erase_if(map, [](const auto& entry) { return entry.second == 0; });
    return map;
  };
  const auto before = sizes(a), after = sizes(b);
  for (const auto& [name, size] : after)
    if (!before.contains(name) || before.at(name) != size)
      return fmt::format("section {} has {} bytes of variables, the original {}", name, size,
                         before.contains(name) ? before.at(name) : 0);
  for (const auto& [name, size] : before)
    if (!after.contains(name)) return fmt::format("section {} with {} bytes of variables is missing", name, size);
  return std::nullopt;
}

} // namespace

std::optional<std::string> abi_difference(const CodeObject& original, const CodeObject& candidate) {
  if (original.e_flags != candidate.e_flags)
    return fmt::format("e_flags {:#x}, candidate {:#x}", original.e_flags, candidate.e_flags);
  if (original.abi_version != candidate.abi_version)
    return fmt::format("ABI version {}, candidate {}", original.abi_version, candidate.abi_version);
  if (original.elf_type != candidate.elf_type)
    return fmt::format("ELF type {}, candidate {}", original.elf_type, candidate.elf_type);
  for (const Kernel& k : original.kernels) {
    const Kernel* other = candidate.kernel(k.name);
    if (!other) return fmt::format("kernel {} is missing", k.name);
    if (auto d = descriptor_difference(k, *other)) return d;
    if (k.entry_address % entry_alignment == 0 && other->entry_address % entry_alignment != 0)
      return fmt::format("kernel {}: entry at {:#x} is not aligned to {} bytes", k.name, other->entry_address,
                         entry_alignment);
  }
  if (auto d = symbol_difference(original, candidate)) return d;
  if (auto d = variables_difference(original, candidate)) return d;
  return metadata_difference(original, candidate);
}

Result<RoundTrip> round_trip(const Program& program, const isa::Codec& codec) {
  return RoundTripper(program, codec).run();
}

} // namespace asmevo::recover
