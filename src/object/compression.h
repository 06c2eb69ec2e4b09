// zlib and zstd over memory, with limits.
#pragma once

#include "object/container.h"

namespace asmevo::object {

struct Unpacked {
  Bytes bytes;
  size_t consumed = 0; // bytes of the input that belong to the stream
};

/// Unpacks the stream at the start of `packed`. Errors: damaged, cut off, or longer than `limit` bytes when unpacked.
Result<Unpacked> unpack(std::span<const uint8_t> packed, Packing packing, uint64_t limit);

/// How many bytes the stream at the start of `packed` takes, without keeping what is in it.
Result<size_t> packed_size(std::span<const uint8_t> packed, Packing packing, uint64_t limit);

enum class Effort : uint8_t { usual, most };
Result<Bytes> pack(std::span<const uint8_t> bytes, Packing packing, Effort effort);

/// The first eight bytes of the MD5, as a compressed bundle's header has them.
uint64_t content_hash(std::span<const uint8_t> bytes);

} // namespace asmevo::object
