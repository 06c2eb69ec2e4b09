// MI300A: 6 XCDs of 38 CUs beside CPU cores; same compute unit and ladder as MI300X, less bandwidth.
#include "timing/devices/cdna3.h"
#include "timing/devices/devices.h"

namespace asmevo::timing::devices {

static constexpr ParameterSet<Parameter> parameters() {
  auto p = cdna3_compute_unit();
  p.clock = {2100, 10, "rocm gpu-specs; 2096 seen"};
  p.power_limited_clock = {1400, 300, "assumed: higher power budget a CU than MI300X"};
  p.launch_floor = {3.4, 0.3, "smallest vectoradd 4.2 by hipEvent, less its own two memory round trips"};
  p.mall_bandwidth = {4500, 400, "vectoradd over 201 MB 4.3 TB/s"};
  p.hbm_bandwidth = {3200, 300, "RRZE gpu-stream 2.7 read, 3.0 triad; vectoradd over 1.6 GB 3.3"};
  return p;
}

constinit const DeviceTable mi300a = {
    .name = "MI300A",
    .processor = isa::Processor::gfx942,
    .compute_units = 228,
    .xcds = 6,
    .l1_bytes = 32768,
    .l2_bytes = 4u << 20,
    .mall_bytes = 256u << 20,
    .parameters = parameters(),
};

} // namespace asmevo::timing::devices
