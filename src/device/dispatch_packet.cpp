#include "device/dispatch_packet.h"

#include <cstring>

namespace asmevo::device {

namespace {

// hsa_kernel_dispatch_packet_t
struct Packet {
  uint16_t header;
  uint16_t setup; // number of dimensions
  uint16_t workgroup_size[3];
  uint16_t reserved0;
  uint32_t grid_size[3]; // work-items
  uint32_t private_segment_size;
  uint32_t group_segment_size;
  uint64_t kernel_object;
  uint64_t kernarg_address;
  uint64_t reserved1;
  uint64_t completion_signal;
};
static_assert(sizeof(Packet) == packet_bytes);

constexpr uint16_t dispatch_packet_header = 2 | 1 << 8 | 2 << 9 | 2 << 11; // kernel dispatch, barrier, system fences

} // namespace

Bytes dispatch_packet(const launch::Case& c, const object::Kernel& kernel, uint64_t kernel_object,
                      uint64_t kernarg_address) {
  Packet packet{};
  packet.header = dispatch_packet_header;
  packet.setup = 3;
  for (size_t i = 0; i < 3; ++i) {
    packet.workgroup_size[i] = uint16_t(c.workgroup_size[i]);
    packet.grid_size[i] = c.work_items[i] ? uint32_t(c.work_items[i]) : c.workgroups[i] * c.workgroup_size[i];
  }
  packet.private_segment_size = kernel.descriptor.private_segment_fixed_size();
  packet.group_segment_size = kernel.descriptor.group_segment_fixed_size() + c.dynamic_lds;
  packet.kernel_object = kernel_object;
  packet.kernarg_address = kernarg_address;
  Bytes bytes(sizeof packet);
  std::memcpy(bytes.data(), &packet, sizeof packet);
  return bytes;
}

} // namespace asmevo::device
