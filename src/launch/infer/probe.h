// A kernel tried on empty memory: what would it touch?
#pragma once

#include "launch/infer/element_type.h"
#include "launch/infer/extent.h"
#include "launch/launch.h"

namespace asmevo::launch {

/// What is tried.
struct Trial {
  std::array<uint32_t, 3> workgroups{1, 1, 1};
  std::array<uint32_t, 3> workgroup_size{64, 1, 1};
  uint32_t dynamic_lds = 0;
  std::map<uint32_t, Bytes> scalars; // by kernarg offset
};

/// What one workgroup did to the memory behind one pointer.
struct PointerUse {
  Extent read, written, atomic; // atomics are in `written` too
  bool operator==(const PointerUse&) const = default;
};

struct GroupUse {
  std::map<uint32_t, PointerUse> pointers; // by kernarg offset
  uint64_t instructions = 0;
  bool stores() const;
  bool operator==(const GroupUse&) const = default;
};

struct ProbeResult {
  bool completed = false;
  std::string fault;
  std::map<uint32_t, GroupUse> groups; // by linear workgroup id
  uint64_t lds_bytes = 0;              // of the highest LDS access
  std::map<uint32_t, TypeVotes> types; // by kernarg offset: pointers' elements, and scalars
};

/// Runs workgroups of a kernel whose pointers lead to empty ranges of gigabytes.
class Prober {
public:
  Prober(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop);

  const std::vector<object::KernelArgument>& pointers() const { return pointers_; }
  const std::vector<object::KernelArgument>& scalars() const { return scalars_; }
  std::string name_of(const object::KernelArgument& argument) const;

  /// Errors only for what cannot be tried at all.
  Result<ProbeResult> run(const Trial& trial, std::vector<uint32_t> workgroups) const;

private:
  Case case_of(const Trial& trial) const;

  const machine::Image& image_;
  const object::Kernel& kernel_;
  const volatile bool* stop_;
  std::vector<object::KernelArgument> pointers_, scalars_; // explicit arguments by kind
};

} // namespace asmevo::launch
