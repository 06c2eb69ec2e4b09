// Real code objects for tests: their .text and target, read with a few lines of our own so that the tests of this
// module need no other.
#pragma once

#include "isa/target.h"
#include "support/file.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace asmevo::isa::testing {

/// The data folder, or an empty path.
inline std::filesystem::path data_folder() {
  const char* named = std::getenv("ASMEVO_DATA");
  const std::filesystem::path path =
      named ? std::filesystem::path(named) : std::filesystem::path(ASMEVO_SOURCE_DIR) / "../shared/data";
  return std::filesystem::is_directory(path) ? path : std::filesystem::path();
}

struct TextSection {
  std::string name; // of the file
  Target target;
  uint64_t address = 0;
  Bytes bytes;
};

inline std::vector<std::filesystem::path> objects_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  if (!std::filesystem::is_directory(folder)) return paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".hsaco" || extension == ".co" || extension == ".o") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

template <class T> T read_at(const Bytes& file, uint64_t offset) {
  T value{};
  if (offset + sizeof value <= file.size()) std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

/// The executable sections of an ELF64 file; empty for anything else.
inline std::vector<TextSection> text_sections(const std::filesystem::path& path) {
  std::vector<TextSection> result;
  const auto file = read_file(path.string());
  if (!file || file->size() < 64 ||
      std::memcmp(file->data(),
                  "\x7f"
                  "ELF\x02",
                  5) != 0)
    return result;
  const auto target = target_from_elf(read_at<uint32_t>(*file, 48), (*file)[8], path.string());
  if (!target) return result;
  const auto headers = read_at<uint64_t>(*file, 40);
  const auto count = read_at<uint16_t>(*file, 60);
  for (uint16_t i = 0; i < count; ++i) {
    const uint64_t header = headers + i * uint64_t{64};
    const bool executable = read_at<uint64_t>(*file, header + 8) & 4;
    const auto offset = read_at<uint64_t>(*file, header + 24), size = read_at<uint64_t>(*file, header + 32);
    if (read_at<uint32_t>(*file, header + 4) != 1 || !executable || offset + size > file->size()) continue;
    const auto begin = file->begin() + static_cast<ptrdiff_t>(offset);
    result.push_back({path.filename().string(), *target, read_at<uint64_t>(*file, header + 16),
                      Bytes(begin, begin + static_cast<ptrdiff_t>(size))});
  }
  return result;
}

} // namespace asmevo::isa::testing
