// Launch files: what a kernel is run on. Schema: docs/launch-format.md.
//
// A launch names a kernel, a grid, arguments and buffers, and a list of cases that override any of it. Parsing checks
// everything that can be known without running: types, sizes, that arguments fill the kernarg segment.
#pragma once

#include "object/code_object.h"
#include "support/result.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace asmevo::launch {

enum class DType : uint8_t { u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, fp8, bf8 };
uint32_t size_of(DType);
std::string_view name_of(DType);

enum class Role : uint8_t { in, out, inout, scratch };

enum class FillKind : uint8_t { zero, constant, uniform, normal, integers, special, poison, file };
struct Fill {
  FillKind kind = FillKind::zero;
  double a = 0, b = 1;   // constant; uniform [a, b); normal mean a, sigma b; integers [a, b]
  std::string path;      // file: raw little-endian bytes
};

struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  std::vector<uint64_t> shape; // row major; bytes() = product * size
  Role role = Role::in;
  Fill fill;
  uint64_t elements() const;
  uint64_t bytes() const { return elements() * size_of(dtype); }
};

struct Argument {
  std::string name;          // for messages; may be empty
  uint32_t offset = 0;       // in the kernarg segment
  uint32_t size = 0;         // bytes
  std::string buffer;        // pointer arguments: the buffer's name
  uint64_t buffer_offset = 0;
  bool null_pointer = false;
  std::vector<uint8_t> value; // other arguments: little-endian bytes
};

/// How floating-point outputs are compared. Defaults by dtype are in docs/launch-format.md.
struct Tolerance {
  double absolute = 0, relative = 0, cosine = 1;
};

/// A launch with everything resolved: one execution.
struct Case {
  std::string name;
  std::string kernel;
  uint64_t seed = 0;
  std::array<uint32_t, 3> workgroups{1, 1, 1};
  std::array<uint32_t, 3> workgroup_size{64, 1, 1};
  uint32_t dynamic_lds = 0;
  std::vector<Argument> arguments;
  std::vector<Buffer> buffers;
  std::map<std::string, Tolerance> tolerance; // by buffer name, where the file sets it
};

struct Launch {
  std::string path;
  std::string kernel; // may be empty where the object has one kernel
  std::vector<Case> cases; // at least one; the first is the one that is timed
  std::string hash;        // sha256 of the canonical content, part of receipts
};

/// Errors: "launch.json:14:21: ..." for JSON and schema errors.
Result<Launch> read_launch(const std::string& path);
/// Checks a launch against the kernel it is for: arguments present, sizes and offsets equal to metadata, no argument
/// beyond the kernarg segment. Hidden arguments need not be given.
Result<void> check_launch(const Launch& launch, const object::CodeObject& object, const object::Kernel& kernel);

/// Initial bytes of a buffer: deterministic in (seed, case, buffer name). Poison differs with `poison_seed`.
Result<Bytes> initial_bytes(const Case& c, const Buffer& buffer, uint64_t poison_seed);

/// The kernarg segment: explicit arguments, pointers from `address_of`, hidden arguments as the HIP runtime fills them.
Bytes kernarg_bytes(const Case& c, const object::Kernel& kernel,
                    const std::map<std::string, uint64_t>& address_of);

} // namespace asmevo::launch
