// Content-addressed, compressed pieces of memory.
#pragma once

#include "support/file.h"

namespace asmevo::launch {

/// Writes `bytes` to `directory`/<sha256>.zst, unless it is there already, and returns the sha256.
Result<std::string> write_content(const std::string& directory, std::span<const uint8_t> bytes);

/// The content of a file that write_content made. Errors, with the path in front: damaged compression, another size
/// than `size`, another hash than `sha256`.
Result<Bytes> read_content(const std::string& path, const std::string& sha256, uint64_t size);

} // namespace asmevo::launch
