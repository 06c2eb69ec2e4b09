#include "recover/sections.h"

#include "object/elf.h"
#include "recover/debug.h"
#include "recover/names.h"

#include <algorithm>
#include <fmt/format.h>

namespace asmevo::recover {

namespace elf = object::elf;

namespace {

bool holds_metadata(const object::CodeObject& object, const object::Section& s) {
  return !object.metadata_note.empty() && !std::ranges::search(object.data(s), object.metadata_note).empty();
}

bool same_name(const object::Section& a, const object::Section& b) { return a.name == b.name && a.group == b.group; }

// How many sections of the same name come before.
size_t ordinal(const object::CodeObject& object, const object::Section& s) {
  return size_t(std::count_if(object.sections.data(), &s, [&](const object::Section& x) { return same_name(x, s); }));
}

std::string quoted(const std::string& name) {
  return is_plain_name(name) && name.find('-') == std::string::npos ? name : '"' + name + '"';
}

} // namespace

Role role(const object::CodeObject& object, const object::Section& s) {
  static constexpr uint32_t rebuilt_types[] = {
      elf::sht_null,     elf::sht_symtab,  elf::sht_strtab, elf::sht_rela,         elf::sht_rel,  elf::sht_hash,
      elf::sht_gnu_hash, elf::sht_dynamic, elf::sht_dynsym, elf::sht_llvm_addrsig, elf::sht_group};
  if (std::ranges::find(rebuilt_types, s.type) != std::end(rebuilt_types)) return Role::rebuilt;
  if (s.type == elf::sht_note && holds_metadata(object, s)) return Role::rebuilt;
  if (s.name == ".relro_padding" || s.name == ".got") return Role::rebuilt;
  if (s.name == ".comment") return Role::comment;
  if (is_debug(s)) return Role::dropped;
  return Role::content;
}

std::string section_directive(const object::CodeObject& object, const object::Section& s) {
  struct Letter {
    uint64_t flag;
    char letter;
  };
  static constexpr Letter letters[] = {{elf::shf_alloc, 'a'}, {elf::shf_write, 'w'},   {elf::shf_execinstr, 'x'},
                                       {elf::shf_merge, 'M'}, {elf::shf_strings, 'S'}, {elf::shf_exclude, 'e'},
                                       {elf::shf_group, 'G'}};
  bool relocatable = object.elf_type == elf::et_rel;
  bool merge = relocatable && (s.flags & elf::shf_merge) && s.entry_size != 0;
  bool grouped = relocatable && !s.group.empty();
  uint64_t kept = s.flags;
  if (!merge) kept &= ~(elf::shf_merge | elf::shf_strings);
  if (!grouped) kept &= ~elf::shf_group;
  std::string flags;
  for (const Letter& l : letters)
    if (kept & l.flag) flags += l.letter;
  std::string_view type = s.type == elf::sht_nobits ? "nobits" : s.type == elf::sht_note ? "note" : "progbits";
  std::string text = fmt::format("\t.section {},\"{}\",@{}", quoted(s.name), flags, type);
  if (merge) text += fmt::format(",{}", s.entry_size);
  if (grouped) text += fmt::format(",{}{}", quoted(s.group), s.comdat ? ",comdat" : "");
  if (size_t number = ordinal(object, s)) text += fmt::format(",unique,{}", number);
  return text;
}

const object::Section* counterpart(const object::CodeObject& object, const object::Section& s,
                                   const object::CodeObject& other) {
  size_t left = ordinal(object, s);
  for (const object::Section& candidate : other.sections)
    if (same_name(candidate, s) && left-- == 0) return &candidate;
  return nullptr;
}

bool is_linker_symbol(const object::Symbol& s) {
  static constexpr std::string_view names[] = {"_DYNAMIC", "_GLOBAL_OFFSET_TABLE_"};
  return s.type == elf::stt_section || s.name.empty() || std::ranges::find(names, s.name) != std::end(names);
}

} // namespace asmevo::recover
