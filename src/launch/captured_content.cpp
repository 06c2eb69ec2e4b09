#include "launch/captured_content.h"

#include "support/hash.h"

#include <filesystem>
#include <zstd.h>

namespace asmevo::launch {

Result<std::string> write_content(const std::string& directory, std::span<const uint8_t> bytes) {
  std::string hash = sha256_hex(bytes), path = directory + "/" + hash + ".zst";
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return hash;
  Bytes compressed(ZSTD_compressBound(bytes.size()));
  size_t size = ZSTD_compress(compressed.data(), compressed.size(), bytes.data(), bytes.size(), 3);
  if (ZSTD_isError(size)) return fail("{}: cannot compress: {}", path, ZSTD_getErrorName(size));
  AE_CHECK(write_file(path, std::span(compressed).first(size)));
  return hash;
}

Result<Bytes> read_content(const std::string& path, const std::string& sha256, uint64_t size) {
  AE_TRY(Bytes compressed, read_file(path));
  unsigned long long stored = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  if (stored == ZSTD_CONTENTSIZE_ERROR || stored == ZSTD_CONTENTSIZE_UNKNOWN)
    return fail("{}: is damaged: not a zstd frame with its size", path);
  if (stored != size) return fail("{}: holds {} bytes, the manifest says {}", path, stored, size);
  Bytes bytes(size);
  size_t got = ZSTD_decompress(bytes.data(), bytes.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(got)) return fail("{}: is damaged: {}", path, ZSTD_getErrorName(got));
  if (got != size) return fail("{}: is damaged: {} bytes instead of {}", path, got, size);
  if (std::string hash = sha256_hex(bytes); hash != sha256)
    return fail("{}: is damaged: its content has the hash {}, the manifest says {}", path, hash, sha256);
  return bytes;
}

} // namespace asmevo::launch
