#include "object/container.h"

#include "object/compression.h"
#include "object/elf.h"

#include <algorithm>
#include <cstring>

namespace asmevo::object {

namespace {

constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";
constexpr std::string_view text_magic = "# __CLANG_OFFLOAD_BUNDLE__";
constexpr uint64_t largest_unpacked = uint64_t{16} << 30;
constexpr uint64_t largest_alignment = 4096;

using Span = std::span<const uint8_t>;

template <class T> T value_at(Span bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

bool begins_with(Span bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

bool is_elf(Span bytes) {
  return begins_with(bytes, "\x7f"
                            "ELF");
}

// --- Plain bundles ---------------------------------------------------------------------------------------------------

struct Table {
  std::vector<Entry> entries;
  uint64_t header_size = 0;
  uint64_t end = 0; // behind the last entry
};

Result<Table> read_table(Span bytes, const std::string& where) {
  uint64_t at = bundle_magic.size();
  if (bytes.size() < at + 8) return fail("{}: the bundle's header is cut off", where);
  uint64_t count = value_at<uint64_t>(bytes, at);
  at += 8;
  if (count > bytes.size() / 24) return fail("{}: the bundle claims {} entries", where, count);
  Table table;
  for (uint64_t i = 0; i < count; i++) {
    if (bytes.size() - at < 24) return fail("{}: entry {} of the bundle is cut off", where, i);
    Entry entry{.offset = value_at<uint64_t>(bytes, at), .size = value_at<uint64_t>(bytes, at + 8)};
    uint64_t length = value_at<uint64_t>(bytes, at + 16);
    at += 24;
    if (length > bytes.size() - at) return fail("{}: the target of entry {} is cut off", where, i);
    entry.target.assign(reinterpret_cast<const char*>(bytes.data()) + at, length);
    at += length;
    if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset)
      return fail("{}: entry {} ({}) at {:#x} has {:#x} bytes, the bundle ends at {:#x}", where, i, entry.target,
                  entry.offset, entry.size, bytes.size());
    table.end = std::max(table.end, entry.offset + entry.size);
    table.entries.push_back(std::move(entry));
  }
  table.header_size = at;
  table.end = std::max(table.end, at);
  return table;
}

// --- Compressed bundles ----------------------------------------------------------------------------------------------

struct CompressedHeader {
  Packing packing;
  uint16_t version;
  uint64_t size;   // of the header
  uint64_t stored; // of the whole, 0 where the version does not say
  uint64_t unpacked;
  uint64_t hash;
};

uint64_t header_size_of(uint16_t version) { return version == 1 ? 20 : version == 2 ? 24 : 32; }

Result<CompressedHeader> read_compressed_header(Span bytes, const std::string& where) {
  if (bytes.size() < 8) return fail("{}: the compressed bundle's header is cut off", where);
  CompressedHeader h{};
  h.version = value_at<uint16_t>(bytes, 4);
  uint16_t method = value_at<uint16_t>(bytes, 6);
  if (h.version < 1 || h.version > 3)
    return fail("{}: compressed bundle of version {}, 1 to 3 are known", where, h.version);
  if (method > 1) return fail("{}: compressed bundle with method {}, 0 (zlib) and 1 (zstd) are known", where, method);
  h.packing = method == 0 ? Packing::zlib : Packing::zstd;
  h.size = header_size_of(h.version);
  if (bytes.size() < h.size) return fail("{}: the compressed bundle's header is cut off", where);
  if (h.version == 1) {
    h.unpacked = value_at<uint32_t>(bytes, 8);
    h.hash = value_at<uint64_t>(bytes, 12);
  } else if (h.version == 2) {
    h.stored = value_at<uint32_t>(bytes, 8);
    h.unpacked = value_at<uint32_t>(bytes, 12);
    h.hash = value_at<uint64_t>(bytes, 16);
  } else {
    h.stored = value_at<uint64_t>(bytes, 8);
    h.unpacked = value_at<uint64_t>(bytes, 16);
    h.hash = value_at<uint64_t>(bytes, 24);
  }
  if (h.unpacked > largest_unpacked) return fail("{}: the compressed bundle claims {} bytes", where, h.unpacked);
  if (h.stored == 0) {
    auto stream = packed_size(bytes.subspan(h.size), h.packing, h.unpacked);
    if (!stream) return fail("{}: compressed bundle: {}", where, stream.error().message);
    h.stored = h.size + *stream;
  }
  if (h.stored < h.size || h.stored > bytes.size())
    return fail("{}: the compressed bundle has {:#x} bytes, {:#x} are there", where, h.stored, bytes.size());
  return h;
}

void append(Bytes& out, uint64_t value, int size) {
  for (int i = 0; i < size; i++) out.push_back(uint8_t(value >> (8 * i)));
}

Result<Bytes> compressed(Span content, const Bundle& like, Effort effort) {
  AE_TRY(Bytes stream, pack(content, like.packing, effort));
  uint64_t stored = header_size_of(like.version) + stream.size();
  if (like.version < 3 && std::max<uint64_t>(stored, content.size()) > UINT32_MAX)
    return fail("a compressed bundle of version {} holds at most 4 GiB", like.version);
  Bytes out(compressed_magic.begin(), compressed_magic.end());
  append(out, like.version, 2);
  append(out, like.packing == Packing::zlib ? 0 : 1, 2);
  if (like.version > 1) append(out, stored, like.version == 2 ? 4 : 8);
  append(out, content.size(), like.version == 3 ? 8 : 4);
  append(out, content_hash(content), 8);
  out.insert(out.end(), stream.begin(), stream.end());
  return out;
}

// --- Finding bundles -------------------------------------------------------------------------------------------------

class Finder {
public:
  explicit Finder(Container& container) : container_(container), bytes_(container.bytes.span()) {}

  // Bundles behind one another in [begin, end), with zeros between them.
  Result<void> find(uint64_t begin, uint64_t end) {
    size_t first = container_.bundles.size();
    for (uint64_t at = begin; (at = skip_zeros(at, end)) < end;) {
      AE_TRY(Bundle bundle, bundle_at(at, end));
      if (container_.bundles.size() > first) container_.bundles.back().room = at - container_.bundles.back().offset;
      at += bundle.size;
      container_.bundles.push_back(bundle);
    }
    if (container_.bundles.size() > first) container_.bundles.back().room = end - container_.bundles.back().offset;
    return {};
  }

  // The sections named .hip_fatbin of a host's ELF file.
  Result<void> find_in_host() {
    if (bytes_.size() < 64 || bytes_[4] != 2 || bytes_[5] != 1)
      return fail("{}: a host ELF file that is not 64-bit little-endian", container_.path);
    uint64_t table = value_at<uint64_t>(bytes_, 40), count = value_at<uint16_t>(bytes_, 60),
             names = value_at<uint16_t>(bytes_, 62);
    if (value_at<uint16_t>(bytes_, 58) != 64 || table > bytes_.size() || count > (bytes_.size() - table) / 64)
      return fail("{}: truncated: {} section headers at {:#x}, file ends at {:#x}", container_.path, count, table,
                  bytes_.size());
    bool found = false;
    for (uint64_t i = 0; i < count && names < count; i++) {
      uint64_t header = table + i * 64, strings = table + names * 64;
      if (!is_named(".hip_fatbin", strings, value_at<uint32_t>(bytes_, header))) continue;
      uint64_t offset = value_at<uint64_t>(bytes_, header + 24), size = value_at<uint64_t>(bytes_, header + 32);
      if (value_at<uint32_t>(bytes_, header + 4) == elf::sht_nobits) continue;
      if (offset > bytes_.size() || size > bytes_.size() - offset)
        return fail("{}: truncated: .hip_fatbin at {:#x} has {:#x} bytes, file ends at {:#x}", container_.path, offset,
                    size, bytes_.size());
      found = true;
      AE_CHECK(find(offset, offset + size));
    }
    if (!found)
      return fail("{}: ELF for machine {} without a section .hip_fatbin, so without code objects", container_.path,
                  value_at<uint16_t>(bytes_, 18));
    return {};
  }

private:
  uint64_t skip_zeros(uint64_t at, uint64_t end) const {
    while (at < end && bytes_[at] == 0) at++;
    return at;
  }

  bool is_named(std::string_view name, uint64_t strings_header, uint32_t name_offset) const {
    uint64_t offset = value_at<uint64_t>(bytes_, strings_header + 24),
             size = value_at<uint64_t>(bytes_, strings_header + 32);
    if (offset > bytes_.size() || size > bytes_.size() - offset || name_offset >= size) return false;
    uint64_t left = size - name_offset;
    const char* text = reinterpret_cast<const char*>(bytes_.data()) + offset + name_offset;
    return left > name.size() && std::string_view(text, name.size()) == name && text[name.size()] == 0;
  }

  Result<Bundle> bundle_at(uint64_t at, uint64_t end) const {
    Span rest = bytes_.subspan(at, end - at);
    std::string where = fmt::format("{}: +{:#x}", container_.path, at);
    Bundle bundle{.offset = at};
    if (begins_with(rest, bundle_magic)) {
      AE_TRY(Table table, read_table(rest, where));
      bundle.packing = Packing::bundle;
      bundle.size = table.end;
    } else if (begins_with(rest, compressed_magic)) {
      AE_TRY(CompressedHeader header, read_compressed_header(rest, where));
      bundle.packing = header.packing;
      bundle.version = header.version;
      bundle.size = header.stored;
      bundle.unpacked_size = header.unpacked;
    } else {
      return fail("{}: neither padding nor an offload bundle", where);
    }
    return bundle;
  }

  Container& container_;
  Span bytes_;
};

// --- Writing ---------------------------------------------------------------------------------------------------------

// The alignment that the entries' offsets have in common.
uint64_t alignment_of(const std::vector<Entry>& entries) {
  uint64_t bits = largest_alignment;
  for (const Entry& e : entries)
    if (e.size) bits |= e.offset;
  return bits & -bits;
}

Bytes with_entry(const OpenBundle& open, const Table& table, size_t index, Span object) {
  std::vector<size_t> order;
  for (size_t i = 0; i < table.entries.size(); i++) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](size_t i) { return table.entries[i].offset; });
  uint64_t alignment = alignment_of(table.entries), end = table.header_size;
  Bytes out(open.content().begin(),
            open.content().begin() + std::min<uint64_t>(table.header_size, open.content().size()));
  std::vector<Entry> placed = table.entries;
  for (size_t i : order) {
    Span data = i == index ? object : open.data(table.entries[i]);
    if (data.empty()) continue;
    // Its old place where that is free, the next aligned one otherwise.
    uint64_t offset = std::max(table.entries[i].offset, (end + alignment - 1) / alignment * alignment);
    out.resize(offset);
    out.insert(out.end(), data.begin(), data.end());
    placed[i].offset = offset;
    placed[i].size = data.size();
    end = out.size();
  }
  uint64_t at = bundle_magic.size() + 8;
  for (const Entry& e : placed) {
    std::memcpy(out.data() + at, &e.offset, 8);
    std::memcpy(out.data() + at + 8, &e.size, 8);
    at += 24 + e.target.size();
  }
  return out;
}

Bytes spliced(const Container& container, size_t index, const Bytes& stored) {
  const Bundle& bundle = container.bundles[index];
  Span file = container.bytes.span();
  Bytes out(file.begin(), file.begin() + bundle.offset);
  out.insert(out.end(), stored.begin(), stored.end());
  if (stored.size() <= bundle.room) {
    // Zeros, as before, up to the next bundle; a file that ended with its bundle ends with it again.
    bool ends_file = bundle.offset + bundle.size == file.size();
    out.resize(bundle.offset + (ends_file ? stored.size() : bundle.room));
    Span rest = file.subspan(bundle.offset + bundle.room);
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  }
  // The bundles behind move on, with the alignment they had.
  for (size_t i = index + 1; i < container.bundles.size(); i++) {
    const Bundle& next = container.bundles[i];
    uint64_t alignment = (next.offset | largest_alignment) & -(next.offset | largest_alignment);
    out.resize((out.size() + alignment - 1) / alignment * alignment);
    Span data = file.subspan(next.offset, next.size);
    out.insert(out.end(), data.begin(), data.end());
  }
  return out;
}

} // namespace

bool holds_code_objects(Span bytes) {
  bool host = is_elf(bytes) && bytes.size() >= 20 && value_at<uint16_t>(bytes, 18) != elf::em_amdgpu;
  return host || begins_with(bytes, bundle_magic) || begins_with(bytes, compressed_magic);
}

Result<Container> read_container(FileBytes bytes, const std::string& path) {
  Container container{.path = path, .bytes = std::move(bytes)};
  Span file = container.bytes.span();
  if (is_elf(file)) {
    bool host = file.size() >= 20 && value_at<uint16_t>(file, 18) != elf::em_amdgpu;
    if (!host) {
      container.bundles.push_back({.size = file.size(), .room = file.size()});
      return container;
    }
    container.host_file = true;
    AE_CHECK(Finder(container).find_in_host());
    return container;
  }
  if (begins_with(file, text_magic) || begins_with(file, "//" + std::string(text_magic.substr(1))))
    return fail("{}: a bundle of text (assembly or IR), a bundle of code objects is needed", path);
  if (!begins_with(file, bundle_magic) && !begins_with(file, compressed_magic))
    return fail("{}: neither a code object nor an offload bundle nor a program that holds one", path);
  AE_CHECK(Finder(container).find(0, file.size()));
  return container;
}

Result<OpenBundle> open_bundle(const Container& container, size_t index) {
  if (index >= container.bundles.size())
    return fail("{}: bundle {} of {}", container.path, index, container.bundles.size());
  const Bundle& bundle = container.bundles[index];
  std::string where = fmt::format("{}: +{:#x}", container.path, bundle.offset);
  Span stored = container.bytes.span().subspan(bundle.offset, bundle.size);
  OpenBundle open{.stored = stored};
  if (bundle.packing == Packing::bare) {
    open.entries.push_back({.size = stored.size()});
    return open;
  }
  if (bundle.packing != Packing::bundle) {
    AE_TRY(CompressedHeader header, read_compressed_header(stored, where));
    auto unpacked = unpack(stored.subspan(header.size), header.packing, header.unpacked);
    if (!unpacked) return fail("{}: compressed bundle: {}", where, unpacked.error().message);
    if (unpacked->bytes.size() != header.unpacked)
      return fail("{}: the compressed bundle unpacks to {} bytes, its header says {}", where, unpacked->bytes.size(),
                  header.unpacked);
    if (content_hash(unpacked->bytes) != header.hash)
      return fail("{}: the compressed bundle does not have the hash that its header says", where);
    open.unpacked = std::move(unpacked->bytes);
    if (!begins_with(open.content(), bundle_magic)) return fail("{}: what is compressed is no offload bundle", where);
  }
  AE_TRY(Table table, read_table(open.content(), where));
  open.entries = std::move(table.entries);
  return open;
}

Result<Bytes> replace_entry(const Container& container, size_t index, size_t entry, Span object) {
  AE_TRY(OpenBundle open, open_bundle(container, index));
  if (entry >= open.entries.size()) return fail("{}: entry {} of {}", container.path, entry, open.entries.size());
  const Bundle& bundle = container.bundles[index];
  if (bundle.packing == Packing::bare) return Bytes(object.begin(), object.end());
  AE_TRY(Table table, read_table(open.content(), container.path));
  Bytes stored = with_entry(open, table, entry, object);
  if (bundle.packing != Packing::bundle) {
    AE_TRY(Bytes usual, compressed(stored, bundle, Effort::usual));
    if (container.host_file && usual.size() > bundle.room) {
      AE_TRY(usual, compressed(stored, bundle, Effort::most));
    }
    stored = std::move(usual);
  }
  if (container.host_file && stored.size() > bundle.room)
    return fail("{}: the new bundle has {:#x} bytes, there is room for {:#x} at +{:#x} of .hip_fatbin's file",
                container.path, stored.size(), bundle.room, bundle.offset);
  return spliced(container, index, stored);
}

Result<void> each_code_object(const Container& container, const std::function<Result<void>(const Place&)>& see) {
  for (size_t b = 0; b < container.bundles.size(); b++) {
    AE_TRY(OpenBundle open, open_bundle(container, b));
    for (size_t e = 0; e < open.entries.size(); e++) {
      Place place{b, e, entry_processor(open.entries[e]), open.data(open.entries[e])};
      bool bare = container.bundles[b].packing == Packing::bare;
      if (!place.bytes.empty() && (bare || !place.processor.empty())) AE_CHECK(see(place));
    }
    container.bytes.forget(container.bundles[b].offset, container.bundles[b].size);
  }
  return {};
}

bool is_for(std::string_view processor, std::string_view wanted) {
  auto part = [](std::string_view& rest) {
    std::string_view first = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(first.size() + 1, rest.size()));
    return first;
  };
  if (part(processor) != part(wanted)) return false;
  while (!wanted.empty()) {
    std::string_view feature = part(wanted), rest = processor;
    bool found = false;
    while (!found && !rest.empty()) found = part(rest) == feature;
    if (!found) return false;
  }
  return true;
}

std::string entry_processor(const Entry& entry) {
  size_t at = entry.target.find("amdgcn-amd-amdhsa-");
  if (at == std::string::npos) return "";
  std::string_view rest = std::string_view(entry.target).substr(at + 18);
  if (rest.starts_with('-')) rest.remove_prefix(1);
  return std::string(rest);
}

} // namespace asmevo::object
