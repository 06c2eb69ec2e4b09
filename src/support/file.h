// Whole files in and out.
#pragma once

#include "support/result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo {

using Bytes = std::vector<uint8_t>;

/// The bytes of the file at `path`. Errors: `path: cannot open: <reason>`; a directory; larger than `limit` bytes.
Result<Bytes> read_file(const std::string& path, uint64_t limit = uint64_t{4} << 30);
Result<std::string> read_text_file(const std::string& path, uint64_t limit = uint64_t{1} << 30);

/// A file's bytes that stay on disk until they are looked at: a library of gigabytes costs what is read of it. Copies
/// share the mapping.
class FileBytes {
public:
  FileBytes() = default;
  FileBytes(Bytes bytes);
  /// Errors: as read_file().
  static Result<FileBytes> map(const std::string& path);

  std::span<const uint8_t> span() const { return bytes_; }
  /// Gives the memory of this part back; a mapped file is read again when it is looked at again.
  void forget(uint64_t offset, uint64_t size) const;

private:
  std::shared_ptr<const void> owner_;
  std::span<const uint8_t> bytes_;
  bool mapped_ = false;
};

/// Writes through a temporary file beside `path` and renames it, so that `path` holds either its old or its new
/// content whatever happens. A link stays a link; pipes and devices are written to.
Result<void> write_file(const std::string& path, std::span<const uint8_t> bytes);
Result<void> write_text_file(const std::string& path, std::string_view text);

/// Says now whether write_file(path) could work later: directory exists and is writable, path is no directory.
Result<void> check_writable(const std::string& path);

} // namespace asmevo
