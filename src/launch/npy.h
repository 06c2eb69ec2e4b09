// NumPy's array files (.npy), format versions 1.0 to 3.0.
//
// The format is a magic word, a version, and a Python dictionary as text: element type, order, shape; then the
// elements. NumPy has no bf16 and no 8-bit floats; libraries that add them write raw bytes of that size ("|V2", "|V1"),
// so such arrays are taken as whatever type of that size the reader expects.
#pragma once

#include "launch/dtype.h"
#include "support/file.h"

#include <vector>

namespace asmevo::launch {

struct NpyArray {
  std::optional<DType> dtype; // nullopt: raw elements of element_size bytes
  uint32_t element_size = 0;
  std::vector<uint64_t> shape; // empty for a scalar
  Bytes data;                  // row major, little endian
};

/// Errors, all beginning with `path`: not an array file, a header that is damaged, an element type that no buffer has,
/// data that is shorter or longer than the header says.
Result<NpyArray> parse_npy(std::span<const uint8_t> file, const std::string& path);
Bytes format_npy(DType dtype, const std::vector<uint64_t>& shape, std::span<const uint8_t> data);

} // namespace asmevo::launch
