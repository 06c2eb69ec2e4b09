#include "object/compression.h"

#include <algorithm>
#include <functional>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/MD5.h>
#include <memory>
#include <zlib.h>
#include <zstd.h>

namespace asmevo::object {

namespace {

constexpr size_t window = size_t{1} << 16;
using Sink = std::function<void(const uint8_t*, size_t)>;

Result<size_t> inflate_into(std::span<const uint8_t> packed, uint64_t limit, const Sink& sink) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return fail("zlib cannot start");
  std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  stream.next_in = const_cast<uint8_t*>(packed.data());
  std::vector<uint8_t> buffer(window);
  uint64_t total = 0;
  size_t left = packed.size();
  for (;;) {
    stream.avail_in = uInt(std::min<size_t>(left, 1u << 30));
    size_t offered = stream.avail_in;
    stream.next_out = buffer.data();
    stream.avail_out = window;
    int status = inflate(&stream, Z_NO_FLUSH);
    left -= offered - stream.avail_in;
    size_t got = window - stream.avail_out;
    total += got;
    if (total > limit) return fail("unpacks to more than {} bytes", limit);
    sink(buffer.data(), got);
    if (status == Z_STREAM_END) return packed.size() - left;
    if (status != Z_OK) return fail("damaged zlib stream");
    if (left == 0 && got == 0) return fail("zlib stream is cut off");
  }
}

Result<size_t> decompress_into(std::span<const uint8_t> packed, uint64_t limit, const Sink& sink) {
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (!context) return fail("zstd cannot start");
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, 27);
  std::vector<uint8_t> buffer(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  uint64_t total = 0;
  for (;;) {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    size_t status = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(status)) return fail("damaged zstd stream ({})", ZSTD_getErrorName(status));
    total += out.pos;
    if (total > limit) return fail("unpacks to more than {} bytes", limit);
    sink(buffer.data(), out.pos);
    if (status == 0) return in.pos;
    if (in.pos == in.size && out.pos < out.size) return fail("zstd stream is cut off");
  }
}

Result<size_t> stream_into(std::span<const uint8_t> packed, Packing packing, uint64_t limit, const Sink& sink) {
  return packing == Packing::zlib ? inflate_into(packed, limit, sink) : decompress_into(packed, limit, sink);
}

} // namespace

Result<Unpacked> unpack(std::span<const uint8_t> packed, Packing packing, uint64_t limit) {
  Unpacked result;
  AE_TRY(result.consumed, stream_into(packed, packing, limit, [&](const uint8_t* data, size_t size) {
           result.bytes.insert(result.bytes.end(), data, data + size);
         }));
  return result;
}

Result<size_t> packed_size(std::span<const uint8_t> packed, Packing packing, uint64_t limit) {
  return stream_into(packed, packing, limit, [](const uint8_t*, size_t) {});
}

Result<Bytes> pack(std::span<const uint8_t> bytes, Packing packing, Effort effort) {
  Bytes out;
  if (packing == Packing::zlib) {
    uLongf size = compressBound(uLong(bytes.size()));
    out.resize(size);
    int level = effort == Effort::most ? Z_BEST_COMPRESSION : Z_DEFAULT_COMPRESSION;
    if (compress2(out.data(), &size, bytes.data(), uLong(bytes.size()), level) != Z_OK) return fail("zlib cannot pack");
    out.resize(size);
    return out;
  }
  out.resize(ZSTD_compressBound(bytes.size()));
  size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), effort == Effort::most ? 19 : 3);
  if (ZSTD_isError(size)) return fail("zstd cannot pack ({})", ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

uint64_t content_hash(std::span<const uint8_t> bytes) {
  return llvm::MD5::hash(llvm::ArrayRef<uint8_t>(bytes.data(), bytes.size())).low();
}

} // namespace asmevo::object
