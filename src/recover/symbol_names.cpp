#include "recover/symbol_names.h"

#include "object/elf.h"
#include "object/elf_reader.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

namespace asmevo::recover {

namespace {

namespace elf = object::elf;

bool is_numbered(const object::Symbol& s) {
  return s.binding == elf::stb_local && s.section != elf::shn_undef && s.section < elf::shn_loreserve &&
         s.type != elf::stt_section && s.type != elf::stt_file && !s.name.empty();
}

constexpr size_t symbol_size = 24;

} // namespace

std::vector<std::string> symbol_names(const object::CodeObject& object) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> all, taken;
  for (const object::Symbol& s : object.symbols) {
    names.push_back(s.name);
    all.insert(s.name);
    if (!is_numbered(s)) taken.insert(s.name);
  }
  for (size_t i = 0; i < names.size(); i++) {
    const object::Symbol& s = object.symbols[i];
    if (!is_numbered(s) || taken.insert(s.name).second) continue;
    for (size_t number = 2; all.contains(names[i]) || taken.contains(names[i]); number++)
      names[i] = fmt::format("{}${}", s.name, number);
    taken.insert(names[i]);
  }
  return names;
}

Result<Bytes> with_own_names(Bytes rebuilt, const object::CodeObject& like) {
  std::unordered_map<std::string, std::string> own;
  auto names = symbol_names(like);
  for (size_t i = 0; i < names.size(); i++)
    if (names[i] != like.symbols[i].name) own.emplace(names[i], like.symbols[i].name);
  if (own.empty()) return rebuilt;
  object::CodeObject object{.path = "rebuilt object", .bytes = std::move(rebuilt)};
  AE_CHECK(object::read_elf(object));
  auto table = std::ranges::find(object.sections, elf::sht_symtab, &object::Section::type);
  if (table == object.sections.end()) return std::move(object.bytes);
  size_t count = table->size / symbol_size; // the first so many of object.symbols are this table
  auto entry = [&](size_t i) { return object.bytes.data() + table->offset + i * symbol_size; };
  std::unordered_map<std::string_view, uint32_t> strings;
  for (size_t i = 0; i < count; i++) std::memcpy(&strings[object.symbols[i].name], entry(i), 4);
  for (size_t i = 0; i < count; i++) {
    auto renamed = own.find(object.symbols[i].name);
    if (renamed == own.end()) continue;
    auto string = strings.find(renamed->second);
    if (string == strings.end()) return fail("{}: no symbol is called {}", object.path, renamed->second);
    std::memcpy(entry(i), &string->second, 4);
  }
  return std::move(object.bytes);
}

} // namespace asmevo::recover
