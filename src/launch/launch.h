// Launch files: what a kernel is run on. Schema: docs/launch-format.md.
//
// A launch names a kernel, a grid, arguments and buffers, and a list of cases that override any of it. Parsing checks
// everything that can be known without running: types, sizes, that arguments fill the kernarg segment. Every value that
// a later check may find wrong keeps the place in the file where it was written.
#pragma once

#include "launch/dtype.h"
#include "object/code_object.h"
#include "support/result.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace asmevo::launch {

enum class Role : uint8_t { in, out, inout, scratch };
std::string_view name_of(Role);
std::optional<Role> role_from_name(std::string_view);
std::span<const std::string_view> role_names();
/// Whether the content after a launch is a result: out and inout.
inline bool is_result(Role role) { return role == Role::out || role == Role::inout; }

enum class FillKind : uint8_t {
  zero,
  constant,
  uniform,
  normal,
  integers,
  special,
  nonfinite,
  poison,
  file,
  npy,
  permutation,
  offsets,
  pointers,
  captured
};

/// An address inside a buffer, which is only known when buffers have been placed.
struct PointerTo {
  std::string buffer;
  uint64_t offset = 0;
};

struct Fill {
  FillKind kind = FillKind::zero;
  double a = 0, b = 1; // constant a; uniform [a, b); normal mean a, sigma b; integers [a, b]; special, nonfinite:
                       // density a; permutation of a numbers, offsets up to a (0: the number of elements)
  std::string path;                // file: raw little-endian bytes; npy: a NumPy array; captured: compressed content
  std::string sha256;              // captured: of the content
  std::vector<PointerTo> pointers; // pointers: the first elements of the buffer; null for an empty name
};
/// Whether the content follows from the seed: another seed gives another input.
bool is_random(FillKind);

struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  std::vector<uint64_t> shape; // row major; bytes() = product * size
  Role role = Role::in;
  Fill fill;
  std::optional<uint64_t> address; // captured buffers stay where they were
  std::string where;               // "launch.json:5:12"
  uint64_t elements() const;
  uint64_t bytes() const { return bytes_of(dtype, elements()); }
};

struct Argument {
  std::string name;    // for messages; may be empty
  uint32_t offset = 0; // in the kernarg segment
  uint32_t size = 0;   // bytes
  std::string buffer;  // pointer arguments: the buffer's name
  uint64_t buffer_offset = 0;
  bool null_pointer = false;
  std::vector<uint8_t> value; // other arguments: little-endian bytes
  std::optional<DType> dtype; // of a scalar
  std::string where;
};

/// How floating-point outputs are compared: |got - expected| <= absolute + relative * |expected| + scaled *
/// rms(expected), and the cosine of the angle between them is at least `cosine` (0: not asked). Defaults by dtype:
/// docs/verification.md.
struct Tolerance {
  double absolute = 0, relative = 0, scaled = 0;
  double cosine = 0;
  bool operator==(const Tolerance&) const = default;
};

/// A launch with everything resolved: one execution.
struct Case {
  std::string name;
  std::string kernel;
  uint64_t seed = 0;
  std::array<uint32_t, 3> workgroups{1, 1, 1};
  std::array<uint32_t, 3> workgroup_size{64, 1, 1};
  std::array<uint64_t, 3> work_items{0, 0, 0}; // of the grid, where the last workgroups are not full; else 0
  uint32_t dynamic_lds = 0;
  std::vector<Argument> arguments;            // by offset
  std::vector<Buffer> buffers;                // by name
  Bytes kernarg;                              // captured: the whole segment as it was; arguments are empty then
  std::map<std::string, Tolerance> tolerance; // by buffer name, where the file sets it
  std::string where;                          // of the case, or of the file where it has none
  std::string where_arguments;                // of the argument list
  std::string where_workgroups, where_workgroup_size, where_dynamic_lds;

  const Buffer* buffer(std::string_view name) const;
  /// Captured memory: buffers cannot be moved, since nobody knows which bytes are addresses.
  bool is_fixed() const;
};

struct Launch {
  std::string path;
  std::string kernel;      // may be empty where the object has one kernel
  std::vector<Case> cases; // at least one; the first is the one that is timed
  std::string hash;        // sha256 of the canonical content, part of receipts
};

/// A launch file, or a capture directory (capture.h). Errors: "launch.json:14:21: ..." for JSON and schema errors.
Result<Launch> read_launch(const std::string& path);
/// The same from text; relative paths in it are relative to the directory of `path`.
Result<Launch> parse_launch(std::string_view text, const std::string& path);

/// Checks a launch against the kernel it is for: arguments present, sizes and offsets equal to metadata, no argument
/// beyond the kernarg segment, workgroup and LDS sizes that the kernel allows. Hidden arguments need not be given.
Result<void> check_launch(const Launch& launch, const object::CodeObject& object, const object::Kernel& kernel);

/// Initial bytes of a buffer: deterministic in (seed, case, buffer name). Poison differs with `poison_seed`.
Result<Bytes> initial_bytes(const Case& c, const Buffer& buffer, uint64_t poison_seed);
/// The same into memory of buffer.bytes() bytes.
Result<void> fill_bytes(const Case& c, const Buffer& buffer, uint64_t poison_seed, std::span<uint8_t> into);
/// Writes the addresses of a buffer with a `pointers` fill.
void fill_pointers(const Buffer& buffer, const std::map<std::string, uint64_t>& address_of, std::span<uint8_t> into);
/// The poison alone, from byte `start` of an endless pattern; `start` is a multiple of 4.
void fill_poison(uint64_t poison_seed, std::string_view name, uint64_t start, std::span<uint8_t> into);

/// Bytes of the kernarg segment.
uint32_t kernarg_size(const Case& c, const object::Kernel& kernel);
/// The kernarg segment: explicit arguments, pointers from `address_of`, hidden arguments as the HIP runtime fills them.
Bytes kernarg_bytes(const Case& c, const object::Kernel& kernel, const std::map<std::string, uint64_t>& address_of);

} // namespace asmevo::launch
