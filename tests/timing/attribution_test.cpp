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

TEST(attribution, busy_and_exposed_clocks_of_the_simds_add_up_to_the_modelled_time_exactly) {
  for (uint32_t workgroups : {1u, 304u, 304u * 8 * 40}) {
    Traced k = everything();
    k.workgroups = {workgroups, 1, 1};
    const Estimate e = k.estimate(mi300x, {.draws = 1, .attribution = true});
    double sum = e.dispatch_cycles + e.drain_cycles;
    for (const Attribution& a : e.attribution)
      sum += a.busy_cycles + std::accumulate(a.exposed_cycles.begin(), a.exposed_cycles.end(), 0.0);
    EXPECT_EQ(sum, 4 * e.simulated_cycles);
    EXPECT_EQ(e.simulated_cycles + e.extrapolated_cycles, e.kernel_cycles);
    EXPECT_EQ(workgroups > 304 * 8 * 3, e.extrapolated_cycles > 0);
  }
}

TEST(attribution, no_stall_is_longer_exposed_than_waves_stood_in_it) {
  const Estimate e = everything().estimate(mi300x, {.draws = 1, .attribution = true});
  for (const Attribution& a : e.attribution)
    for (size_t s = 0; s < size_t(Stall::count_); ++s) EXPECT_LE(a.exposed_cycles[s], a.stall_cycles[s]);
}

TEST(attribution, a_stall_that_other_waves_fill_is_not_exposed) {
  // The load's latency of one wave, and enough arithmetic of others to hide it.
  const std::string load = "global_load_dword v1, v[2:3], off\ns_waitcnt vmcnt(0)\ns_endpgm";
  Traced alone(load), crowd(times(200, "v_add_f32 v0, v2, v2") + load, 32);
  for (Traced* k : {&alone, &crowd}) {
    const uint32_t row = k->strided(4, 4);
    k->access = [=](const Occurrence&) { return Access{row, 0x1000000}; };
  }
  const auto exposed_share = [](const Estimate& e, size_t at) {
    return e.attribution[at].exposed_cycles[size_t(Stall::vmcnt)] / stalls(e.attribution[at], Stall::vmcnt);
  };
  EXPECT_EQ(exposed_share(alone.estimate(mi300x, {.draws = 1, .attribution = true}), 1), 1);
  EXPECT_LT(exposed_share(crowd.estimate(mi300x, {.draws = 1, .attribution = true}), 201), 0.5);
}

TEST(attribution, waits_name_the_instruction_whose_result_they_wait_for) {
  Traced k("global_load_dword v1, v[2:3], off\n"
           "ds_read_b32 v5, v6\n"
           "v_exp_f32 v9, v8\n"
           "v_add_f32 v10, v9, v9\n"
           "s_waitcnt lgkmcnt(0)\n"
           "s_waitcnt vmcnt(0)\n"
           "s_load_dword s4, s[0:1], 0x0\n"
           "s_waitcnt lgkmcnt(0)\n"
           "v_add_f32 v12, v10, v10\n"
           "global_store_dword v[2:3], v12, off\n"
           "s_endpgm");
  const uint32_t row = k.strided(4, 4), lds = k.strided(4, 4, machine::Space::lds),
                 scalar = k.strided(0, 4, machine::Space::scalar, false, 1);
  k.access = [=](const Occurrence& o) {
    return Access{o.instruction == 1 ? lds : o.instruction == 6 ? scalar : row, 0x1000000};
  };
  const Estimate e = k.estimate(mi300x, {.draws = 1, .attribution = true});
  std::vector<std::tuple<uint32_t, uint32_t, Stall>> found;
  for (const Dependence& d : e.dependences) {
    found.emplace_back(d.consumer, d.producer, d.reason);
    EXPECT_GT(d.cycles, 0);
    EXPECT_EQ(d.exposed, d.cycles); // a lone wave
  }
  const std::vector<std::tuple<uint32_t, uint32_t, Stall>> expected = {{3, 2, Stall::dependency},
                                                                       {4, 1, Stall::lgkmcnt},
                                                                       {5, 0, Stall::vmcnt},
                                                                       {7, 6, Stall::lgkmcnt},
                                                                       {9, 8, Stall::dependency}};
  EXPECT_EQ(found, expected);
}

TEST(attribution, the_timeline_shows_every_clock_of_every_wave_once) {
  const Estimate e = everything().estimate(mi300x, {.draws = 1, .attribution = true, .timeline = 10'000'000});
  std::map<std::pair<uint64_t, uint32_t>, int64_t> reached;
  double sum = 0;
  for (const Slice& s : e.timeline) {
    const auto [wave, first] = reached.try_emplace({s.workgroup, s.wave}, s.begin);
    EXPECT_EQ(wave->second, s.begin);
    EXPECT_GT(s.end, s.begin);
    EXPECT_EQ(s.issue, s.reason == Stall::count_);
    wave->second = s.end;
    sum += double(s.end - s.begin);
  }
  EXPECT_EQ(sum, e.wave_cycles);
}

TEST(attribution, two_waves_never_hold_one_slot_at_a_time) {
  const Estimate e = everything().estimate(mi300x, {.draws = 1, .attribution = true, .timeline = 10'000'000});
  std::map<std::tuple<uint32_t, uint32_t>, std::map<int64_t, int64_t>> busy; // by slot: [begin, end) of waves
  std::map<std::pair<uint64_t, uint32_t>, std::tuple<uint32_t, uint32_t, int64_t, int64_t>> waves;
  for (const Slice& s : e.timeline) {
    auto& [simd, slot, begin, end] =
        waves.try_emplace({s.workgroup, s.wave}, s.simd, s.slot, s.begin, s.end).first->second;
    EXPECT_EQ(std::tuple(simd, slot), std::tuple(s.simd, s.slot));
    end = std::max(end, s.end);
  }
  for (const auto& [id, w] : waves) busy[{std::get<0>(w), std::get<1>(w)}][std::get<2>(w)] = std::get<3>(w);
  EXPECT_GT(busy.size(), 4u);
  for (const auto& [slot, spans] : busy) {
    int64_t before = 0;
    for (const auto& [begin, end] : spans) {
      EXPECT_GE(begin, before);
      before = end;
    }
  }
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
