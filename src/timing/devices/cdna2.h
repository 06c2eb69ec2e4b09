// What a gfx90a part costs: the compute unit of gfx942 with CDNA2's clocks, caches and bandwidths in place.
//
// MI210 and one die of MI250X are the same silicon with a few more CUs enabled, so both take this set.
#pragma once

#include "timing/devices/cdna3.h"

namespace asmevo::timing::devices {

constexpr ParameterSet<Parameter> cdna2_part() {
  auto p = cdna3_compute_unit();
  p.clock = {1700, 10, "rocm gpu-specs"};
  p.power_limited_clock = {1500, 200, "assumed"};
  p.launch_floor = {7, 3, "unmeasured; between MI300A and MI300X"};
  p.dispatch_wave = {2, 1, "as MI300X, unmeasured"};
  p.valu_multiply_issue = {16, 4, "as MI300X, unmeasured"};
  p.mfma_result = {2, 2, "as gfx950, unmeasured"};
  p.l1_latency = {127, 4, "RRZE gpu-latency, up to 16 KB: 125-129"};
  p.l2_latency = {248, 6, "RRZE gpu-latency"};
  p.mall_latency = {650, 80, "no such cache; as HBM"};
  p.hbm_latency = {650, 80, "assumed: MI300X without the hop over its memory-side cache"};
  p.lds_read_rate = {53, 5, "MI200 LDS roofline 17718 GB/s: 100 B/clk a CU"};
  p.l1_rate = {52.2, 3, "MI200 L1 roofline 9227 GB/s"};
  p.l2_rate = {2950, 200, "MI200 L2 roofline 5018 GB/s"};
  p.mall_bandwidth = {1350, 60, "no such cache; as HBM"};
  p.hbm_bandwidth = {1350, 60, "RRZE gpu-stream: read 1.39, triad 1.23 TB/s; MI200 roofline 1389 GB/s"};
  return p;
}

} // namespace asmevo::timing::devices
