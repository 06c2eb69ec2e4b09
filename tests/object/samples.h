// Real code objects for tests, from the shared data folder (environment ASMEVO_DATA, or ../shared/data beside the
// repository). A test that needs them says loudly that it was skipped where they are absent.
#pragma once

#include "object/code_object.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

namespace asmevo::samples {

inline std::string data_folder() {
  if (const char* folder = std::getenv("ASMEVO_DATA")) return folder;
  for (std::string up : {"/../shared/data", "/../../shared/data"})
    if (std::string folder = ASMEVO_SOURCE_DIR + up; std::filesystem::is_directory(folder)) return folder;
  return "";
}

/// Files below `folder` of the data whose name ends in `suffix`, sorted.
inline std::vector<std::string> files(const std::string& folder, const std::string& suffix) {
  std::vector<std::string> found;
  std::string root = data_folder() + "/" + folder;
  if (data_folder().empty() || !std::filesystem::is_directory(root)) return found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.is_regular_file() && entry.path().string().ends_with(suffix)) found.push_back(entry.path().string());
  std::ranges::sort(found);
  return found;
}

inline Bytes load(const std::string& path) {
  auto bytes = read_file(path);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return bytes ? *bytes : Bytes{};
}

inline std::string triton(const std::string& name) { return data_folder() + "/triton/" + name + ".hsaco"; }

} // namespace asmevo::samples

#define NEEDS_DATA(folder)                                                                                             \
  if (!std::filesystem::is_directory(asmevo::samples::data_folder() + "/" folder))                                     \
  GTEST_SKIP() << "NOT TESTED: no " folder " in the data folder (set ASMEVO_DATA)"
