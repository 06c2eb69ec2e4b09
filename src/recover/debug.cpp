#include "recover/debug.h"

#include "object/elf.h"
#include "object/elf_reader.h"

#include <algorithm>
#include <cstring>

namespace asmevo::recover {

namespace {

namespace elf = object::elf;
using object::CodeObject;
using object::Section;

constexpr size_t header_size = 64;

// Why the addresses of `before` are not true in `after`; empty where they are.
std::string moved(const CodeObject& before, const CodeObject& after) {
  if (before.elf_type != elf::et_dyn) return "a relocatable object relocates it";
  static constexpr uint32_t addressed[] = {elf::sht_progbits, elf::sht_nobits};
  for (const Section& s : before.sections) {
    if (!(s.flags & elf::shf_alloc) || std::ranges::find(addressed, s.type) == std::end(addressed)) continue;
    bool code = s.flags & elf::shf_execinstr;
    if (!code && (s.name == ".got" || s.name == ".relro_padding")) continue;
    const Section* other = after.section(s.name);
    if (!other || other->address != s.address || other->size != s.size)
      return fmt::format("{} does not lie where it lay", s.name);
    if (code && !std::ranges::equal(before.data(s), after.data(*other))) return fmt::format("{} has changed", s.name);
  }
  return "";
}

// Adds sections behind the others: their content, a longer table of names, a longer table of headers.
class Appender {
public:
  explicit Appender(CodeObject& object) : bytes_(object.bytes) {
    std::memcpy(&table_, bytes_.data() + 40, 8);
    std::memcpy(&count_, bytes_.data() + 60, 2);
    std::memcpy(&names_index_, bytes_.data() + 62, 2);
    headers_.assign(bytes_.begin() + ptrdiff_t(table_), bytes_.begin() + ptrdiff_t(table_ + count_ * header_size));
    const Section& names = object.sections[names_index_];
    names_.assign(bytes_.begin() + ptrdiff_t(names.offset), bytes_.begin() + ptrdiff_t(names.offset + names.size));
  }

  void add(const Section& s, std::span<const uint8_t> content) {
    align(std::max<uint64_t>(s.alignment, 1));
    struct {
      uint32_t name, type;
      uint64_t flags, address, offset, size;
      uint32_t link, info;
      uint64_t alignment, entry_size;
    } header{uint32_t(names_.size()), s.type, s.flags, 0, bytes_.size(), s.size, 0, 0, s.alignment, s.entry_size};
    static_assert(sizeof header == header_size);
    const auto* begin = reinterpret_cast<const uint8_t*>(&header);
    headers_.insert(headers_.end(), begin, begin + header_size);
    names_.insert(names_.end(), s.name.begin(), s.name.end());
    names_.push_back(0);
    bytes_.insert(bytes_.end(), content.begin(), content.end());
    count_++;
  }

  void finish() {
    uint64_t at = bytes_.size(), size = names_.size();
    std::memcpy(headers_.data() + names_index_ * header_size + 24, &at, 8);
    std::memcpy(headers_.data() + names_index_ * header_size + 32, &size, 8);
    bytes_.insert(bytes_.end(), names_.begin(), names_.end());
    align(8);
    at = bytes_.size();
    std::memcpy(bytes_.data() + 40, &at, 8);
    std::memcpy(bytes_.data() + 60, &count_, 2);
    bytes_.insert(bytes_.end(), headers_.begin(), headers_.end());
  }

private:
  void align(uint64_t alignment) { bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment); }

  Bytes& bytes_;
  uint64_t table_ = 0;
  uint16_t count_ = 0, names_index_ = 0;
  Bytes headers_, names_;
};

} // namespace

bool is_debug(const Section& s) { return s.name.starts_with(".debug_"); }

Result<DebugKept> keep_debug(Bytes rebuilt, const CodeObject& like) {
  if (std::ranges::none_of(like.sections, is_debug)) return DebugKept{std::move(rebuilt), ""};
  CodeObject object{.path = "rebuilt object", .bytes = std::move(rebuilt)};
  AE_CHECK(object::read_elf(object));
  std::string why = moved(like, object);
  if (why.empty() && std::ranges::any_of(object.sections, is_debug)) why = "the listing brings its own";
  if (why.empty()) {
    Appender appender(object);
    for (const Section& s : like.sections)
      if (is_debug(s)) appender.add(s, like.data(s));
    appender.finish();
  }
  return DebugKept{std::move(object.bytes), std::move(why)};
}

} // namespace asmevo::recover
