// MI308X: 80 CUs beside the full memory of an MI300X. Clock and bandwidth are unpublished.
#include "timing/devices/cdna3.h"
#include "timing/devices/devices.h"

namespace asmevo::timing::devices {

static constexpr ParameterSet<Parameter> parameters() {
  auto p = cdna3_compute_unit();
  p.clock = {1420, 100, "unpublished; 414 TFLOP/s fp8 on 80 CUs needs at least 1263"};
  p.power_limited_clock = {1420, 100, "no throttling assumed with 80 CUs"};
  p.launch_floor = {5, 2, "unpublished; smallest measured kernels 6.8 us"};
  p.mall_bandwidth = {4200, 900, "unpublished; as many links as MI300X, fewer CUs"};
  p.hbm_bandwidth = {3400, 600, "unpublished; same HBM as MI300X, fewer CUs to ask for it"};
  return p;
}

constinit const DeviceTable mi308x = {
    .name = "MI308X",
    .processor = isa::Processor::gfx942,
    .compute_units = 80,
    .xcds = 4,
    .l1_bytes = 32768,
    .l2_bytes = 4u << 20,
    .mall_bytes = 256u << 20,
    .parameters = parameters(),
};

} // namespace asmevo::timing::devices
