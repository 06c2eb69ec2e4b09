#include "support/build_id.h"

#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <link.h>
#include <span>

namespace asmevo {

namespace {

/// The build id among the notes of one segment; each is three words, a name and a content, padded to words.
std::string find_id(std::span<const uint8_t> notes) {
  constexpr auto padded = [](size_t size) { return (size + 3) / 4 * 4; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    notes = notes.subspan(sizeof header);
    const size_t name = padded(header.n_namesz), content = padded(header.n_descsz);
    if (name + content > notes.size()) return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(notes.data(), "GNU", 4) == 0) {
      std::string id;
      for (const uint8_t byte : notes.subspan(name, header.n_descsz)) id += fmt::format("{:02x}", byte);
      return id;
    }
    notes = notes.subspan(name + content);
  }
  return {};
}

/// The executable is the first object that is shown.
int look_at_executable(dl_phdr_info* info, size_t, void* id) {
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    const auto& segment = info->dlpi_phdr[k];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const uint8_t*>(info->dlpi_addr + segment.p_vaddr);
    std::string found = find_id({notes, segment.p_memsz});
    if (!found.empty()) *static_cast<std::string*>(id) = std::move(found);
  }
  return 1;
}

} // namespace

std::string build_id() {
  std::string id;
  dl_iterate_phdr(look_at_executable, &id);
  return id;
}

} // namespace asmevo
