// Attribution: every clock of a wave's residence has one instruction and one reason.
#include "timing/traced.h"

#include <numeric>

namespace asmevo::timing {
namespace {

const DeviceTable& mi300x = device_for(isa::Processor::gfx942);

double total(const Attribution& a) {
  return a.issue_cycles + std::accumulate(a.stall_cycles.begin(), a.stall_cycles.end(), 0.0);
}
double stalls(const Attribution& a, Stall s) { return a.stall_cycles[size_t(s)]; }

Traced everything() {
  Traced k("loop:\n"
           "global_load_dwordx4 v[4:7], v[0:1], off\n"
           "ds_read_b128 v[8:11], v3\n"
           "s_load_dword s4, s[0:1], 0x0\n"
           "v_exp_f32 v12, v13\n"
           "v_add_f32 v14, v12, v1\n"
           "s_waitcnt lgkmcnt(0)\n"
           "v_mfma_f32_32x32x8_f16 a[0:15], v[8:9], v[10:11], a[0:15]\n"
           "v_mfma_f32_32x32x8_f16 a[0:15], v[8:9], v[10:11], a[0:15]\n"
           "s_waitcnt vmcnt(0)\n"
           "s_barrier\n"
           "ds_write_b128 v3, v[4:7]\n"
           "global_store_dwordx4 v[0:1], v[4:7], off\n"
           "s_nop 2\n"
           "s_cbranch_scc1 loop\n"
           "s_endpgm",
           4);
  k.trips = 12;
  k.workgroups = {304 * 8 * 4, 1, 1};
  const uint32_t row = k.strided(16, 16), store = k.strided(16, 16, machine::Space::global, true);
  const uint32_t lds = k.strided(64, 16, machine::Space::lds),
                 scalar = k.strided(0, 4, machine::Space::scalar, false, 1);
  const std::vector<isa::Instruction> code = k.code;
  k.access = [=](const Occurrence& o) {
    const auto& traits = code[o.instruction].traits;
    if (traits.smem) return Access{scalar, 0x4000};
    if (traits.lds) return Access{lds, 0};
    const uint64_t at = (o.workgroup * 4ull + o.wave) * 16384 + o.times * 1024;
    return traits.may_store ? Access{store, 0x80000000 + at} : Access{row, 0x40000000 + at};
  };
  return k;
}

} // namespace

TEST(attribution, totals_add_up_to_the_residence_of_the_waves_exactly) {
  const Estimate e = everything().estimate(mi300x, {.draws = 1, .attribution = true});
  double sum = 0;
  for (const Attribution& a : e.attribution) sum += total(a);
  EXPECT_GT(e.wave_cycles, 0);
  EXPECT_EQ(sum, e.wave_cycles);
}

TEST(attribution, a_lone_wave_accounts_for_the_whole_kernel) {
  Traced k("loop:\nv_exp_f32 v0, v0\nglobal_load_dword v1, v[2:3], off\ns_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\n"
           "s_endpgm");
  const uint32_t row = k.strided(4, 4);
  k.trips = 50;
  k.access = [=](const Occurrence& o) { return Access{row, 0x1000000 + o.times * 4096ull}; };
  const Estimate e = k.estimate(mi300x, {.draws = 1, .attribution = true});
  EXPECT_EQ(e.wave_cycles, e.kernel_cycles);
}

TEST(attribution, asking_for_it_does_not_change_the_estimate) {
  const Estimate with = everything().estimate(mi300x, {.draws = 3, .attribution = true});
  const Estimate without = everything().estimate(mi300x, {.draws = 3});
  EXPECT_EQ(with.seconds, without.seconds);
}

TEST(attribution, a_wait_for_a_load_is_charged_to_the_waitcnt) {
  Traced k("global_load_dword v1, v[2:3], off\ns_waitcnt vmcnt(0)\nv_add_f32 v0, v1, v1\ns_endpgm");
  const uint32_t row = k.strided(4, 4);
  k.access = [=](const Occurrence&) { return Access{row, 0x1000000}; };
  const Estimate e = k.estimate(mi300x, {.draws = 1, .attribution = true});
  EXPECT_GT(stalls(e.attribution[1], Stall::vmcnt), 180);
  EXPECT_EQ(stalls(e.attribution[2], Stall::vmcnt), 0);
}

TEST(attribution, reasons_name_what_held_the_wave) {
  const auto dependent =
      Traced("v_exp_f32 v0, v1\nv_add_f32 v2, v0, v0\ns_endpgm").estimate(mi300x, {.draws = 1, .attribution = true});
  EXPECT_GT(stalls(dependent.attribution[1], Stall::dependency), 8);

  const auto busy =
      Traced("v_exp_f32 v0, v1\nv_add_f32 v2, v3, v3\ns_endpgm").estimate(mi300x, {.draws = 1, .attribution = true});
  EXPECT_GT(stalls(busy.attribution[1], Stall::pipe_busy), 4);

  const auto crowded =
      Traced(times(8, "v_add_f32 v0, v1, v2") + "s_endpgm", 16).estimate(mi300x, {.draws = 1, .attribution = true});
  EXPECT_GT(stalls(crowded.attribution[0], Stall::not_selected), 0);
}

TEST(attribution, the_last_wave_at_a_barrier_holds_the_others) {
  Traced k("loop:\nv_exp_f32 v0, v1\ns_cbranch_scc1 loop\ns_barrier\ns_endpgm", 4);
  k.trips = 100;
  auto launch = k.launch(mi300x);
  auto& events = k.trace.waves[1].events; // one wave skips the loop
  events.erase(events.begin(), events.begin() + 199);
  const auto e = estimate_traced(launch, mi300x, {.draws = 1, .attribution = true}).value();
  EXPECT_GT(stalls(e.attribution[2], Stall::barrier), 1000);
}

} // namespace asmevo::timing
