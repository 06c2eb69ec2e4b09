// From trials to a launch: values for scalars, a grid, extents of buffers.
//
// The search begins with one number for every scalar, because kernels are written for consistent arguments: a row
// stride that equals the row, three equal dimensions of a product. From there single values change, and a change stays
// when more of the code is executed, nothing faults and no two waves begin to store to the same place. Then the grid:
// workgroups along an axis are useful until they store nothing or store over each other. Sizes grow until there are
// several workgroups and shrink until the whole launch is cheap. At last memory gets content, since an index or a count
// that is loaded leads elsewhere than zero does.
#pragma once

#include "launch/infer/probe.h"

namespace asmevo::launch {

using Position = std::array<uint32_t, 3>;
using Values = std::map<uint32_t, int64_t>; // of integer scalars, by kernarg offset

/// What was found out about a scalar.
struct Scalar {
  Slot slot;
  unsigned uses = 0;  // Use
  bool moves = false; // another value changes what is touched or executed
  DType type = DType::u32;
  double factor = 0.5; // its value where `type` is a floating-point type
};

/// What was found out about one set of values.
struct Shape {
  Values values;
  Position grid{1, 1, 1};
  std::map<uint32_t, PointerUse> pointers; // by kernarg offset, over the whole grid
  uint64_t lds_bytes = 0, collisions = 0, instructions = 0;
  std::vector<bool> executed;
};

/// What all memory holds where nothing better is known. Some kernels store only where what they load differs.
enum class Background : uint8_t { zeros, integers, floats };

/// Content of a buffer of integers: [low, high].
struct Range {
  double low = 0, high = 0;
};

struct Found {
  Position workgroup{64, 1, 1};
  uint32_t item_axes = 1;
  uint32_t dynamic_lds = 0;
  std::vector<Slot> pointers;
  std::vector<Scalar> scalars;
  std::map<uint32_t, DType> types;  // of pointers that are used
  std::map<uint32_t, Range> ranges; // of integer buffers
  std::set<uint32_t> unknown_types, moved, indexes;
  std::set<unsigned> unlimited_axes;
  std::array<bool, 3> axes{};
  bool depends_on_data = false;
  Background background = Background::zeros;
  std::vector<Shape> shapes; // the first is the one that is meant; the others are tails
};

/// Errors: the kernel stores nothing, or faults, whatever is tried; too much effort.
Result<Found> search_launch(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop);

/// The buffer behind a pointer as the launch file will have it. `before`: bytes of it before the pointer.
struct Layout {
  uint64_t before = 0;
  Buffer buffer;
};
Layout layout_of(const Found& found, const Slot& pointer, const PointerUse& use);

} // namespace asmevo::launch
