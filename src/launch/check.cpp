// A launch against the kernel it is for.
//
// A wrong argument list does not fail on a GPU, it reads other bytes: the run ends in a fault far from the cause, or
// gives a wrong answer that looks right. Metadata says what the compiler expects at each offset, so every mistake that
// it can reveal is found here, before anything runs.
#include "launch/launch.h"

#include "isa/resources.h"

#include <algorithm>

namespace asmevo::launch {

namespace {

using object::KernelArgument;

std::string shown(const Argument& argument) {
  if (!argument.name.empty())
    return fmt::format("argument \"{}\" ({} bytes at offset {})", argument.name, argument.size, argument.offset);
  return fmt::format("the argument of {} bytes at offset {}", argument.size, argument.offset);
}

std::string shown(const KernelArgument& wanted, size_t index) {
  std::string name = wanted.name.empty() ? "" : fmt::format(" (`{}`)", wanted.name);
  return fmt::format("argument {}{}, {}, {} bytes at offset {}", index, name, wanted.value_kind, wanted.size,
                     wanted.offset);
}

bool is_hidden(const KernelArgument& a) { return a.value_kind.starts_with("hidden_"); }

/// Pointers and whatever else is one value; a by-value argument may be a struct that the launch gives in pieces.
bool is_divisible(const KernelArgument& a) { return a.value_kind == "by_value"; }

Result<void> check_argument(const Argument& given, const object::Kernel& kernel, uint32_t segment) {
  if (segment && given.offset + given.size > segment)
    return fail("{}: {} ends beyond the kernarg segment of kernel `{}`, which has {} bytes", given.where, shown(given),
                kernel.name, segment);
  if (!kernel.metadata || kernel.metadata->args.empty()) return {};
  const std::vector<KernelArgument>& wanted = kernel.metadata->args;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const KernelArgument& w = wanted[i];
    if (given.offset < w.offset || given.offset >= uint64_t{w.offset} + w.size) continue;
    bool whole = given.offset == w.offset && given.size == w.size;
    bool piece = is_divisible(w) && uint64_t{given.offset} + given.size <= uint64_t{w.offset} + w.size;
    if (whole || piece) return {};
    return fail("{}: {} does not fit kernel `{}`, which takes {}", given.where, shown(given), kernel.name, shown(w, i));
  }
  return fail("{}: {}: kernel `{}` has no argument there", given.where, shown(given), kernel.name);
}

Result<void> check_arguments(const Case& c, const object::Kernel& kernel) {
  uint32_t segment = kernel.descriptor.kernarg_size();
  if (kernel.metadata) segment = std::max(segment, kernel.metadata->kernarg_segment_size);
  for (const Argument& given : c.arguments) AE_CHECK(check_argument(given, kernel, segment));
  if (!kernel.metadata) return {};
  for (size_t i = 0; i < kernel.metadata->args.size(); ++i) {
    const KernelArgument& wanted = kernel.metadata->args[i];
    bool given = std::ranges::any_of(c.arguments, [&](const Argument& a) {
      return a.offset >= wanted.offset && a.offset < uint64_t{wanted.offset} + wanted.size;
    });
    if (!given && !is_hidden(wanted) && wanted.size > 0)
      return fail("{}: the launch gives {} arguments and lacks one: kernel `{}` takes {}", c.where_arguments,
                  c.arguments.size(), kernel.name, shown(wanted, i));
  }
  return {};
}

/// A captured segment is the runtime's own and need not be looked into, but it must be this kernel's.
Result<void> check_captured(const Case& c, const object::Kernel& kernel) {
  uint32_t wanted = kernel.descriptor.kernarg_size();
  if (kernel.metadata) wanted = std::max(wanted, kernel.metadata->kernarg_segment_size);
  if (c.kernarg.size() < wanted)
    return fail("{}: the captured kernarg segment has {} bytes, kernel `{}` takes {}", c.where, c.kernarg.size(),
                kernel.name, wanted);
  return {};
}

Result<void> check_workgroup(const Case& c, const object::Kernel& kernel) {
  if (!kernel.metadata) return {};
  const auto& size = c.workgroup_size;
  uint32_t items = size[0] * size[1] * size[2], most = kernel.metadata->max_flat_workgroup_size;
  if (const auto& wanted = kernel.metadata->reqd_workgroup_size; wanted && *wanted != size)
    return fail("{}: a workgroup of {}, kernel `{}` was compiled for exactly {}", c.where_workgroup_size,
                fmt::join(size, "x"), kernel.name, fmt::join(*wanted, "x"));
  if (most && items > most)
    return fail("{}: a workgroup of {} work-items, kernel `{}` was compiled for at most {}", c.where_workgroup_size,
                items, kernel.name, most);
  return {};
}

Result<void> check_lds(const Case& c, const object::CodeObject& object, const object::Kernel& kernel) {
  AE_TRY(isa::Target target, isa::target_from_elf(object.e_flags, object.abi_version, object.path));
  uint64_t fixed = kernel.descriptor.group_segment_fixed_size(), most = isa::lds_size(target.processor);
  if (fixed + c.dynamic_lds > most)
    return fail("{}: {} bytes of dynamic LDS and {} of kernel `{}` are more than the {} of {}",
                c.where_dynamic_lds.empty() ? c.where : c.where_dynamic_lds, c.dynamic_lds, fixed, kernel.name, most,
                isa::processor_name(target.processor));
  return {};
}

} // namespace

Result<void> check_launch(const Launch& launch, const object::CodeObject& object, const object::Kernel& kernel) {
  if (!launch.kernel.empty() && launch.kernel != kernel.name)
    return fail("{}: the launch is for kernel `{}`, not `{}`", launch.path, launch.kernel, kernel.name);
  for (const Case& c : launch.cases) {
    AE_CHECK(c.kernarg.empty() ? check_arguments(c, kernel) : check_captured(c, kernel));
    AE_CHECK(check_workgroup(c, kernel));
    AE_CHECK(check_lds(c, object, kernel));
  }
  return {};
}

} // namespace asmevo::launch
