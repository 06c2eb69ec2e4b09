#include "object/metadata.h"

#include "object/elf.h"

#include <algorithm>
#include <cstring>

namespace asmevo::object {

namespace {

constexpr uint64_t largest_note = uint64_t{1} << 26;

uint32_t word(std::span<const uint8_t> bytes, uint64_t at) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

uint64_t padded(uint64_t size) { return (size + 3) & ~uint64_t{3}; }

// Notes of one section, in whatever order they come.
Result<void> scan_notes(CodeObject& object, std::span<const uint8_t> notes, const std::string& where) {
  uint64_t at = 0;
  while (notes.size() - at >= 12) {
    uint64_t name_size = word(notes, at), size = word(notes, at + 4), type = word(notes, at + 8);
    uint64_t name_at = at + 12, content_at = name_at + padded(name_size);
    if (content_at > notes.size() || size > notes.size() - content_at)
      return fail("{}: {}+{:#x}: note of {} bytes is cut off", object.path, where, at, size);
    std::string_view name(reinterpret_cast<const char*>(notes.data()) + name_at, name_size);
    auto content = notes.subspan(content_at, size);
    if (type == elf::nt_amd_hsa_metadata && name == std::string_view("AMD\0", 4))
      return fail("{}: {}+{:#x}: metadata of code object version 2, versions 3 to 6 are understood", object.path, where,
                  at);
    if (type == elf::nt_amdgpu_metadata && name == std::string_view("AMDGPU\0", 7)) {
      if (size > largest_note) return fail("{}: {}+{:#x}: metadata of {} bytes", object.path, where, at, size);
      object.metadata_note.assign(content.begin(), content.end());
      return {};
    }
    at = std::min<uint64_t>(content_at + padded(size), notes.size());
  }
  return {};
}

// Picks typed values out of one map; the first value of a wrong type becomes the error.
class Fields {
public:
  Fields(const msgpack::Value& map, std::string where) : map_(map), where_(std::move(where)) {}

  void read(std::string_view key, std::string& out) {
    const msgpack::Value* value = map_.find(key);
    if (!value) return;
    if (!value->is_string()) return wrong(key, "a string");
    out = value->text;
  }
  void read(std::string_view key, uint32_t& out) {
    const msgpack::Value* value = map_.find(key);
    if (!value) return;
    if (value->kind != msgpack::Kind::unsigned_integer || value->number > UINT32_MAX)
      return wrong(key, "a number below 2^32");
    out = uint32_t(value->number);
  }
  void read(std::string_view key, std::optional<uint32_t>& out) {
    uint32_t number = 0;
    if (!map_.find(key)) return;
    read(key, number);
    out = number;
  }
  void read(std::string_view key, bool& out) {
    const msgpack::Value* value = map_.find(key);
    if (!value) return;
    if (value->kind == msgpack::Kind::boolean)
      out = value->integer != 0;
    else if (value->kind == msgpack::Kind::unsigned_integer)
      out = value->number != 0;
    else
      wrong(key, "a boolean");
  }
  void read(std::string_view key, std::optional<std::array<uint32_t, 3>>& out) {
    const msgpack::Value* value = map_.find(key);
    if (!value) return;
    if (value->kind != msgpack::Kind::array || value->items.size() != 3) return wrong(key, "three numbers");
    std::array<uint32_t, 3> numbers;
    for (size_t i = 0; i < 3; i++) {
      const msgpack::Value& item = value->items[i];
      if (item.kind != msgpack::Kind::unsigned_integer || item.number > UINT32_MAX) return wrong(key, "three numbers");
      numbers[i] = uint32_t(item.number);
    }
    out = numbers;
  }
  Result<void> done() const {
    if (!error_.empty()) return fail("{}", error_);
    return {};
  }

private:
  void wrong(std::string_view key, std::string_view wanted) {
    if (error_.empty()) error_ = fmt::format("{}: {} is not {}", where_, key, wanted);
  }
  const msgpack::Value& map_;
  std::string where_, error_;
};

Result<KernelArgument> read_argument(const msgpack::Value& map, const std::string& where) {
  if (map.kind != msgpack::Kind::map) return fail("{}: not a map", where);
  KernelArgument a;
  Fields fields(map, where);
  fields.read(".name", a.name);
  fields.read(".type_name", a.type_name);
  fields.read(".value_kind", a.value_kind);
  fields.read(".value_type", a.value_type);
  fields.read(".address_space", a.address_space);
  fields.read(".access", a.access);
  fields.read(".offset", a.offset);
  fields.read(".size", a.size);
  fields.read(".is_const", a.is_const);
  AE_CHECK(fields.done());
  return a;
}

Result<KernelMetadata> read_kernel(const msgpack::Value& map, const std::string& where) {
  if (map.kind != msgpack::Kind::map) return fail("{}: not a map", where);
  KernelMetadata k;
  Fields fields(map, where);
  fields.read(".name", k.name);
  fields.read(".symbol", k.symbol);
  fields.read(".kernarg_segment_size", k.kernarg_segment_size);
  fields.read(".kernarg_segment_align", k.kernarg_segment_align);
  fields.read(".group_segment_fixed_size", k.group_segment_fixed_size);
  fields.read(".private_segment_fixed_size", k.private_segment_fixed_size);
  fields.read(".max_flat_workgroup_size", k.max_flat_workgroup_size);
  fields.read(".wavefront_size", k.wavefront_size);
  fields.read(".reqd_workgroup_size", k.reqd_workgroup_size);
  fields.read(".sgpr_count", k.sgpr_count);
  fields.read(".vgpr_count", k.vgpr_count);
  fields.read(".agpr_count", k.agpr_count);
  fields.read(".sgpr_spill_count", k.sgpr_spill_count);
  fields.read(".vgpr_spill_count", k.vgpr_spill_count);
  fields.read(".uses_dynamic_stack", k.uses_dynamic_stack);
  AE_CHECK(fields.done());
  if (const msgpack::Value* args = map.find(".args")) {
    if (args->kind != msgpack::Kind::array) return fail("{}: .args is not a list", where);
    for (size_t i = 0; i < args->items.size(); i++) {
      AE_TRY(KernelArgument argument, read_argument(args->items[i], fmt::format("{}: argument {}", where, i)));
      k.args.push_back(std::move(argument));
    }
  }
  return k;
}

Result<msgpack::Value> parse_note(std::span<const uint8_t> note, const std::string& path) {
  auto document = msgpack::parse(note);
  if (!document) return fail("{}: metadata: {}", path, document.error().message);
  if (document->kind != msgpack::Kind::map) return fail("{}: metadata is not a map", path);
  return document;
}

Result<const std::vector<msgpack::Value>*> kernel_maps(const msgpack::Value& document, const std::string& path) {
  static const std::vector<msgpack::Value> none;
  const msgpack::Value* kernels = document.find("amdhsa.kernels");
  if (!kernels) return &none;
  if (kernels->kind != msgpack::Kind::array) return fail("{}: metadata: amdhsa.kernels is not a list", path);
  return &kernels->items;
}

} // namespace

Result<void> find_metadata_note(CodeObject& object) {
  for (const Section& s : object.sections) {
    if (s.type != elf::sht_note) continue;
    AE_CHECK(scan_notes(object, object.data(s), s.name));
    if (!object.metadata_note.empty()) return {};
  }
  for (const Segment& s : object.segments) {
    if (s.type != elf::pt_note) continue;
    AE_CHECK(scan_notes(object, std::span(object.bytes).subspan(s.offset, s.file_size), "note segment"));
    if (!object.metadata_note.empty()) return {};
  }
  return {};
}

Result<Metadata> read_metadata(std::span<const uint8_t> note, const std::string& path) {
  AE_TRY(msgpack::Value document, parse_note(note, path));
  Metadata metadata;
  Fields fields(document, path + ": metadata");
  fields.read("amdhsa.target", metadata.target);
  AE_CHECK(fields.done());
  AE_TRY(auto* kernels, kernel_maps(document, path));
  for (size_t i = 0; i < kernels->size(); i++) {
    AE_TRY(KernelMetadata kernel, read_kernel((*kernels)[i], fmt::format("{}: metadata: kernel {}", path, i)));
    metadata.kernels.push_back(std::move(kernel));
  }
  return metadata;
}

Result<Bytes> replace_register_counts(std::span<const uint8_t> note, std::span<const RegisterCounts> kernels,
                                      const std::string& path) {
  AE_TRY(msgpack::Value document, parse_note(note, path));
  AE_TRY(auto* maps, kernel_maps(document, path));
  std::vector<msgpack::Replacement> replacements;
  for (const msgpack::Value& map : *maps) {
    const msgpack::Value* symbol = map.find(".symbol");
    if (!symbol) continue;
    for (const RegisterCounts& counts : kernels) {
      if (symbol->text != counts.symbol) continue;
      auto set = [&](std::string_view key, uint32_t number) {
        const msgpack::Value* value = map.find(key);
        if (value && value->number != number) replacements.push_back({value->begin, value->end, number});
      };
      set(".vgpr_count", counts.vgprs);
      set(".agpr_count", counts.agprs);
      set(".sgpr_count", counts.sgprs);
    }
  }
  return msgpack::replace(note, std::move(replacements));
}

} // namespace asmevo::object
