// MI100: CDNA1, 120 CUs, separate AGPRs, 10 waves a SIMD.
#include "timing/devices/cdna3.h"
#include "timing/devices/devices.h"

namespace asmevo::timing::devices {

static constexpr ParameterSet<Parameter> parameters() {
  auto p = cdna3_compute_unit();
  p.clock = {1502, 10, "rocm gpu-specs"};
  p.power_limited_clock = {1350, 150, "assumed"};
  p.launch_floor = {8, 3, "unmeasured"};
  p.dispatch_wave = {2, 1, "as MI300X, unmeasured"};
  p.valu_f64_issue = {8, 0, "peak 11.5 TFLOP/s f64: half rate"};
  p.valu_f64_dependent = {8, 4, "as its issue"};
  p.valu_multiply_issue = {16, 4, "as MI300X, unmeasured"};
  p.l1_latency = {125, 10, "as MI210, unmeasured"};
  p.l2_latency = {250, 30, "as MI210, unmeasured"};
  p.mall_latency = {650, 100, "no such cache; as HBM"};
  p.hbm_latency = {650, 100, "as MI210, unmeasured"};
  p.l1_rate = {52, 6, "as MI210, unmeasured"};
  p.l2_rate = {1400, 300, "assumed: 128 B/clk and channel, 16 channels, at 70 %"};
  p.mall_bandwidth = {980, 80, "no such cache; as HBM"};
  p.hbm_bandwidth = {980, 80, "peak 1228.8 GB/s, 80 % assumed"};
  return p;
}

constinit const DeviceTable mi100 = {
    .name = "MI100",
    .processor = isa::Processor::gfx908,
    .compute_units = 120,
    .xcds = 1,
    .l1_bytes = 16384,
    .l2_bytes = 8u << 20,
    .mall_bytes = 0,
    .parameters = parameters(),
};

} // namespace asmevo::timing::devices
