// Real objects that the analyses are tried on, where the data folder is there.
#pragma once

#include "assemble.h"
#include "recover/recover.h"

#include <algorithm>
#include <filesystem>

namespace asmevo::analysis {

inline std::string data_folder() {
  if (const char* folder = std::getenv("ASMEVO_DATA")) return folder;
  return std::string(ASMEVO_SOURCE_DIR) + "/../shared/data";
}

/// Code objects below `folder` of the data folder, by path; empty where there is none.
inline std::vector<std::string> objects_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(data_folder() + "/" + folder, error), end; !error && it != end;
       it.increment(error)) {
    const auto extension = it->path().extension();
    if (extension == ".hsaco" || extension == ".co") paths.push_back(it->path());
  }
  std::ranges::sort(paths);
  return paths;
}

inline Result<recover::Program> recover_file(const std::string& path) {
  AE_TRY(Bytes bytes, read_file(path));
  AE_TRY(object::CodeObject object, object::read_code_object(std::move(bytes), path));
  AE_TRY(const isa::Target target, isa::target_from_elf(object.e_flags, object.abi_version, path));
  AE_TRY(const isa::Codec codec, isa::Codec::create(target));
  return recover::recover(std::make_shared<object::CodeObject>(std::move(object)), codec);
}

} // namespace asmevo::analysis
