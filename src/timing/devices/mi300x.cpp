// MI300X: 8 XCDs of 38 CUs, 256 MB memory-side cache, 5.3 TB/s HBM3.
#include "timing/devices/cdna3.h"
#include "timing/devices/devices.h"

namespace asmevo::timing::devices {

static constexpr ParameterSet<Parameter> parameters() {
  auto p = cdna3_compute_unit();
  p.clock = {2100, 10, "rocm gpu-specs; 2092-2095 seen"};
  p.power_limited_clock = {1150, 100, "RRZE gpu-roofline at 750 W: 1050-1250"};
  p.launch_floor = {8.66, 0.1, "mgpusim ground truth, empty kernel"};
  p.mall_bandwidth = {5600, 600, "copies of 64-128 MB 5.0-5.4 TB/s; read at 26 MB 6.9"};
  p.hbm_bandwidth = {4050, 200, "RRZE gpu-stream 4.0-4.2; device copy 4 GB 3.87"};
  return p;
}

constinit const DeviceTable mi300x = {
    .name = "MI300X",
    .processor = isa::Processor::gfx942,
    .compute_units = 304,
    .xcds = 8,
    .l1_bytes = 32768,
    .l2_bytes = 4u << 20,
    .mall_bytes = 256u << 20,
    .parameters = parameters(),
};

} // namespace asmevo::timing::devices
