// MessagePack, as far as AMDGPU metadata uses it.
//
// The metadata note is a msgpack document. LLVM has a reader for it, but that one dies on documents whose map keys are
// not scalars, and it forgets how a number was written, so that a document of another producer cannot be given back
// byte for byte. This reader keeps, for every value, the bytes it was read from; changing one number is then a splice
// that leaves everything else as it was.
#pragma once

#include "support/file.h"
#include "support/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::object::msgpack {

enum class Kind : uint8_t { nil, boolean, integer, unsigned_integer, real, string, binary, array, map };

struct Value {
  Kind kind = Kind::nil;
  int64_t integer = 0; // boolean (0, 1) and negative integers
  uint64_t number = 0; // unsigned integers
  double real = 0;
  std::string text;          // string and binary
  std::vector<Value> items;  // array elements; of a map: key, value, key, value, ...
  size_t begin = 0, end = 0; // the bytes of the document that this value was read from

  /// The value under `key` of a map, or null.
  const Value* find(std::string_view key) const;
  bool is_string() const { return kind == Kind::string; }
};

/// Reads one document that must fill `bytes` (trailing zero bytes are padding and allowed).
/// Errors: truncated, nested deeper than 64, extension types, map keys that are no strings; with the offset.
Result<Value> parse(std::span<const uint8_t> bytes);

/// `bytes` with the number at `value` (which parse() read from them) replaced, in the shortest form that msgpack has.
struct Replacement {
  size_t begin = 0, end = 0;
  uint64_t number = 0;
};
Bytes replace(std::span<const uint8_t> bytes, std::vector<Replacement> replacements);

} // namespace asmevo::object::msgpack
