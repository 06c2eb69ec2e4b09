// What code objects come in.
//
// A code object rarely travels alone. The compiler puts one for each processor into an offload bundle, may compress the
// bundle, may put several behind one another, and embeds the lot into the section .hip_fatbin of an executable or a
// shared library. This module finds the bundles of a file, opens them one at a time (a library can hold gigabytes of
// them when unpacked), and puts a changed code object back into a copy of its file without touching a byte of its
// neighbours.
//
// Formats: a plain bundle is the magic "__CLANG_OFFLOAD_BUNDLE__", a count, and entries (offset, size, target id). A
// compressed one begins with "CCOB", a version, a method (0 zlib, 1 zstd), sizes that depend on the version, and the
// first eight bytes of the MD5 of what is inside. Source: Clang documentation "Clang Offload Bundler".
#pragma once

#include "support/file.h"
#include "support/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace asmevo::object {

enum class Packing : uint8_t { bare, bundle, zlib, zstd };

/// Where a bundle (or a bare code object) is in the file.
struct Bundle {
  uint64_t offset = 0;
  uint64_t size = 0; // of what is stored
  uint64_t room = 0; // bytes up to the next bundle, or to the end of the section that holds it
  Packing packing = Packing::bare;
  uint16_t version = 0;       // of a compressed one: 1, 2 or 3
  uint64_t unpacked_size = 0; // as the header claims
};

struct Container {
  std::string path;
  FileBytes bytes;
  bool host_file = false; // bundles lie in .hip_fatbin of an ELF file for the host
  std::vector<Bundle> bundles;
};

struct Entry {
  std::string target;  // "hipv4-amdgcn-amd-amdhsa--gfx942", "host-x86_64-unknown-linux-gnu-"; empty for a bare object
  uint64_t offset = 0; // in the unpacked bundle
  uint64_t size = 0;
};

struct OpenBundle {
  std::span<const uint8_t> stored; // in the container's bytes
  Bytes unpacked;                  // empty where `stored` is the plain bundle already
  std::vector<Entry> entries;

  std::span<const uint8_t> content() const { return unpacked.empty() ? stored : unpacked; }
  std::span<const uint8_t> data(const Entry& entry) const { return content().subspan(entry.offset, entry.size); }
};

/// Finds the bundles. Errors: neither a code object nor a bundle nor a host ELF file with .hip_fatbin; a header that
/// does not fit the file; bytes between bundles that are neither padding nor a bundle.
Result<Container> read_container(FileBytes bytes, const std::string& path);

/// Whether these bytes begin like something read_container() looks into and that is no code object itself.
bool holds_code_objects(std::span<const uint8_t> bytes);

/// Unpacks bundle `index` and reads its table. The result refers to the container's bytes.
Result<OpenBundle> open_bundle(const Container& container, size_t index);

/// A copy of the file with one entry replaced, in the same packing. Entries keep the alignment they had; all others
/// keep their bytes. Errors: in a host file the new bundle must fit where the old one was.
Result<Bytes> replace_entry(const Container& container, size_t bundle, size_t entry, std::span<const uint8_t> object);

/// A code object and where in its container it is.
struct Place {
  size_t bundle = 0, entry = 0;
  std::string processor; // entry_processor(); empty for a bare code object
  std::span<const uint8_t> bytes;
};

/// Shows each code object of a container to `see`, with one bundle unpacked at a time: `bytes` end with the call. Empty
/// entries and the host's are left out. Errors: a bundle that cannot be opened; those of `see`.
Result<void> each_code_object(const Container& container, const std::function<Result<void>(const Place&)>& see);

/// Whether "gfx90a:sramecc+:xnack-" is a "gfx90a", a "gfx90a:xnack-" and so on: the processor is the same, and no
/// feature that is asked for is missing.
bool is_for(std::string_view processor, std::string_view wanted);

/// "gfx942:sramecc+:xnack-" of an entry's target; empty for the host's.
std::string entry_processor(const Entry& entry);

} // namespace asmevo::object
