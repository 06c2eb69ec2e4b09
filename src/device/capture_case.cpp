#include "device/capture_case.h"

#include "device/placement.h"
#include "isa/target.h"

namespace asmevo::device {

Result<launch::Capture> capture_case(const object::CodeObject& object, const launch::Case& c,
                                     const std::string& product) {
  AE_TRY(const object::Kernel* kernel, object::choose_kernel(object, c.kernel));
  AE_TRY(isa::Target target, isa::target_from_elf(object.e_flags, object.abi_version, object.path));
  Placement placement = place(c, 0);
  std::map<std::string, uint64_t> addresses = placement.addresses();
  launch::Capture capture{.code_object = object.bytes,
                          .kernel = kernel->name,
                          .workgroup_size = c.workgroup_size,
                          .dynamic_lds = c.dynamic_lds,
                          .kernarg = launch::kernarg_bytes(c, *kernel, addresses),
                          .tolerance = c.tolerance,
                          .target = isa::target_id(target),
                          .product = product};
  for (size_t i = 0; i < 3; ++i)
    capture.work_items[i] = c.work_items[i] ? c.work_items[i] : uint64_t{c.workgroups[i]} * c.workgroup_size[i];
  for (const PlacedBuffer& placed : placement.buffers) {
    const launch::Buffer& buffer = *placed.buffer;
    launch::CapturedRegion region{.name = buffer.name,
                                  .address = placed.address,
                                  .role = buffer.role,
                                  .dtype = buffer.dtype,
                                  .shape = buffer.shape};
    if (buffer.role == launch::Role::in || buffer.role == launch::Role::inout) {
      AE_TRY(region.content, launch::initial_bytes(c, buffer, 0));
      launch::fill_pointers(buffer, addresses, region.content);
    }
    capture.regions.push_back(std::move(region));
  }
  return capture;
}

} // namespace asmevo::device
