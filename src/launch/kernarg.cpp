// The kernarg segment, as the HIP runtime builds it.
//
// After the explicit arguments come hidden ones that the compiler asks for in metadata. Up to code object v4 these are
// the global offset and pointers for printf and device-side enqueue; from v5 on also the grid itself, which the kernel
// would otherwise read from the dispatch packet. Sources: LLVM AMDGPUUsage, "Code Object V5 Metadata" (`.value_kind`),
// and the ROCclr runtime's handling of them: HIP dispatches always have three grid dimensions; the block count leaves
// out a partial last block, whose size is the remainder.
#include "launch/launch.h"

#include <algorithm>
#include <cstring>

namespace asmevo::launch {

namespace {

/// Value of a hidden argument; what is not listed (printf, hostcall and heap pointers, multigrid, ...) is zero.
uint64_t hidden_value(std::string_view kind, const Case& c) {
  constexpr std::string_view axes = "xyz";
  size_t axis = axes.find(kind.back());
  if (kind.ends_with("_x") || kind.ends_with("_y") || kind.ends_with("_z")) {
    uint64_t size = c.workgroup_size[axis], items = c.work_items[axis] ? c.work_items[axis] : c.workgroups[axis] * size;
    if (kind.starts_with("hidden_block_count_")) return items / size;
    if (kind.starts_with("hidden_group_size_")) return size;
    if (kind.starts_with("hidden_remainder_")) return items % size;
    return 0; // hidden_global_offset_*
  }
  if (kind == "hidden_grid_dims") return 3;
  if (kind == "hidden_dynamic_lds_size") return c.dynamic_lds;
  return 0;
}

void put(Bytes& segment, uint64_t offset, uint64_t size, const void* value) {
  if (offset < segment.size()) std::memcpy(segment.data() + offset, value, std::min(size, segment.size() - offset));
}

} // namespace

uint32_t kernarg_size(const Case& c, const object::Kernel& kernel) {
  uint32_t size = kernel.descriptor.kernarg_size();
  if (kernel.metadata) size = std::max(size, kernel.metadata->kernarg_segment_size);
  size = std::max(size, uint32_t(c.kernarg.size()));
  for (const Argument& a : c.arguments) size = std::max(size, a.offset + a.size);
  return size;
}

Bytes kernarg_bytes(const Case& c, const object::Kernel& kernel, const std::map<std::string, uint64_t>& address_of) {
  Bytes segment(kernarg_size(c, kernel), 0);
  if (!c.kernarg.empty()) {
    std::ranges::copy(c.kernarg, segment.begin());
    return segment;
  }
  if (kernel.metadata)
    for (const object::KernelArgument& hidden : kernel.metadata->args) {
      if (!hidden.value_kind.starts_with("hidden_")) continue;
      uint64_t value = hidden_value(hidden.value_kind, c);
      put(segment, hidden.offset, std::min<uint64_t>(hidden.size, sizeof value), &value);
    }
  for (const Argument& argument : c.arguments) {
    uint64_t address = 0;
    if (auto found = address_of.find(argument.buffer); !argument.buffer.empty() && found != address_of.end())
      address = found->second + argument.buffer_offset;
    if (!argument.value.empty())
      put(segment, argument.offset, argument.value.size(), argument.value.data());
    else
      put(segment, argument.offset, sizeof address, &address);
  }
  return segment;
}

} // namespace asmevo::launch
