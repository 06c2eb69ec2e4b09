// Launch floor and dispatch.
#include "timing/traced.h"

namespace asmevo::timing {

const DeviceTable& mi300x = device_for(isa::Processor::gfx942);

// Measured: mgpusim ground truth, empty kernel of 256 threads a block on MI300X.
TEST(launch, an_empty_kernel_takes_the_floor_and_a_dispatch_slot_a_workgroup) {
  const std::pair<uint32_t, double> rows[] = {
      {1, 8.655}, {4096, 10.635}, {32768, 24.367}, {262144, 134.203}, {2097152, 1014.415}};
  for (auto [blocks, microseconds] : rows) {
    Traced k("s_endpgm", 4);
    k.workgroups = {blocks, 1, 1};
    EXPECT_TRUE(within(1e6 * k.estimate(mi300x).seconds[0], microseconds, 0.10)) << blocks << " blocks";
  }
}

TEST(launch, workgroups_beyond_the_residents_wait_for_a_place) {
  Traced k("loop:\n" + times(16, "v_add_f32 v0, v1, v2") + "s_cbranch_scc1 loop\ns_endpgm", 4);
  k.trips = 200;
  k.resident = 1;
  k.workgroups = {304, 1, 1};
  const double one = k.cycles(mi300x);
  k.workgroups = {608, 1, 1};
  EXPECT_TRUE(within(k.cycles(mi300x), 2 * one, 0.10));
}

TEST(launch, many_generations_extrapolate_to_what_simulating_all_would_give) {
  Traced k(times(300, "v_add_f32 v0, v1, v2") + "s_endpgm", 4);
  k.resident = 2;
  k.workgroups = {304 * 2 * 3, 1, 1};
  const double three = k.cycles(mi300x);
  k.workgroups = {304 * 2 * 30, 1, 1};
  EXPECT_TRUE(within(k.cycles(mi300x), 10 * three, 0.10));
}

TEST(launch, a_trace_that_does_not_fit_the_code_is_refused) {
  Traced k("s_endpgm");
  auto launch = k.launch(mi300x);
  k.trace.waves[0].events[0].instruction = 7;
  auto e = estimate_traced(launch, mi300x, {});
  ASSERT_FALSE(e);
  EXPECT_EQ(e.error().message, "timing: the trace names instruction 7 of 1");
}

} // namespace asmevo::timing
