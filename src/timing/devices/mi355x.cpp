// MI355X: CDNA4, 8 XCDs of 32 CUs, 160 KB of LDS, 8 TB/s HBM3E.
#include "timing/devices/cdna3.h"
#include "timing/devices/devices.h"

namespace asmevo::timing::devices {

static constexpr ParameterSet<Parameter> parameters() {
  auto p = cdna3_compute_unit();
  p.clock = {2200, 20, "gfx950 latency probe: 2183"};
  p.power_limited_clock = {1800, 300, "assumed"};
  p.launch_floor = {7, 2, "unmeasured; between MI300A and MI300X"};
  p.dispatch_wave = {3.5, 0.5, "trace: one wave start in 12-16 clk for each of 4 shader engines"};
  p.valu_trans_issue = {8, 0, "trace: v_exp, v_rsq"};
  p.valu_trans_dependent = {12, 4, "issue + one turn, assumed"};
  p.lds_latency = {38, 10, "trace: ds_read_b128 of one lane to its wait 39; probe 69 with address and wait"};
  p.lds_read_rate = {62, 3, "trace: ds_read_b128 16-20 clk with the queue full"};
  p.l2_latency = {220, 30, "as MI300X, unmeasured"};
  p.mall_latency = {500, 60, "as MI300X, unmeasured"};
  p.hbm_latency = {850, 100, "trace: cold scalar load 732-776; loads with TLB misses 1064-1900"};
  p.mall_bandwidth = {7500, 1000, "MI300X scaled by HBM peak"};
  p.hbm_bandwidth = {6100, 500, "peak 8 TB/s at MI300X's 76 %"};
  return p;
}

constinit const DeviceTable mi355x = {
    .name = "MI355X",
    .processor = isa::Processor::gfx950,
    .compute_units = 256,
    .xcds = 8,
    .l1_bytes = 32768,
    .l2_bytes = 4u << 20,
    .mall_bytes = 256u << 20,
    .parameters = parameters(),
};

} // namespace asmevo::timing::devices
