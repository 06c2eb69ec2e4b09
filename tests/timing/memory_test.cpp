// Latency ladder and bandwidths of MI300X, and what coalescing and waits do.
#include "timing/traced.h"

namespace asmevo::timing {
namespace {

const DeviceTable& mi300x = device_for(isa::Processor::gfx942);

// Clocks a hop of a pointer chase over `bytes`, one lane of one wave, caches as a warm launch leaves them.
double chase(uint64_t bytes) {
  const auto run = [&](uint32_t trips) {
    Traced k("loop:\n" + times(16, "global_load_dwordx2 v[0:1], v[0:1], off\ns_waitcnt vmcnt(0)") +
             "s_cbranch_scc1 loop\ns_endpgm");
    const uint32_t lane = k.strided(0, 8, machine::Space::global, false, 1);
    k.trips = trips;
    const uint64_t lines = bytes / 128;
    k.access = [=](const Occurrence& o) {
      const uint64_t hop = uint64_t{o.times} * 16 + o.instruction / 2;
      return Access{lane, 0x1000000 + (hop * 5 % lines) * 128};
    };
    return k.cycles(mi300x);
  };
  // All lines are touched in the first part, and the second part's hops are counted.
  const auto warm = static_cast<uint32_t>(bytes / 128 / 16 + 1);
  return (run(warm + 200) - run(warm)) / 3200;
}

// Bytes a clock that a CU reads, four waves going round and round through `bytes` each, 16 bytes a lane.
double stream(uint64_t bytes, uint32_t workgroups_a_cu = 1) {
  Traced k("loop:\n" + times(4, "global_load_dwordx4 v[4:7], v[0:1], off") +
               "s_waitcnt vmcnt(8)\ns_cbranch_scc1 loop\ns_waitcnt vmcnt(0)\ns_endpgm",
           4);
  const uint32_t row = k.strided(16, 16);
  k.workgroups = {304 * workgroups_a_cu, 1, 1};
  k.resident = workgroups_a_cu;
  k.trips = 400;
  k.access = [=](const Occurrence& o) {
    const uint64_t at = (o.times * 4ull + o.instruction) * 1024 % bytes;
    return Access{row, 0x100000000 + (o.workgroup * 4ull + o.wave) * bytes + at};
  };
  return workgroups_a_cu * 4 * 400 * 4 * 1024.0 / k.cycles(mi300x);
}

} // namespace

// Measured: RRZE gpu-latency on MI300X, 116-120, 212, 477-519, 873-890 clk.
TEST(memory, the_latency_ladder_of_mi300x_is_met) {
  EXPECT_TRUE(within(chase(16 << 10), 118, 0.10));
  EXPECT_TRUE(within(chase(1 << 20), 212, 0.10));
}

TEST(memory, a_footprint_beyond_l2_comes_from_the_memory_side_cache) {
  Traced k("loop:\nglobal_load_dwordx2 v[0:1], v[0:1], off\ns_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\ns_endpgm");
  const uint32_t lane = k.strided(0, 8, machine::Space::global, false, 1);
  k.trips = 2000;
  k.workgroups = {304, 1, 1};
  k.access = [=](const Occurrence& o) { return Access{lane, 0x1000000 + o.workgroup * 256000ull + o.times * 128}; };
  EXPECT_TRUE(within(k.cycles(mi300x) / 2000, 480 + 20, 0.10)); // and the taken branch
}

TEST(memory, what_fits_l2_is_there_from_the_launch_before) {
  Traced k("loop:\nglobal_load_dwordx2 v[0:1], v[0:1], off\ns_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\ns_endpgm");
  const uint32_t lane = k.strided(0, 8, machine::Space::global, false, 1);
  k.trips = 1000;
  k.access = [=](const Occurrence& o) { return Access{lane, 0x1000000 + o.times * 128ull}; };
  EXPECT_TRUE(within(k.cycles(mi300x) / 1000, 212 + 20, 0.10));
}

TEST(memory, a_footprint_far_beyond_the_memory_side_cache_comes_from_hbm) {
  Traced k("loop:\nglobal_load_dwordx2 v[0:1], v[0:1], off\ns_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\ns_endpgm");
  const uint32_t lane = k.strided(0, 8, machine::Space::global, false, 1);
  k.trips = 100;
  k.workgroups = {1u << 20, 1, 1};
  k.resident = 1;
  k.access = [=](const Occurrence& o) { return Access{lane, 0x1000000 + o.workgroup * 409600ull + o.times * 4096ull}; };
  const double each = k.cycles(mi300x) / 100 / ((1 << 20) / 304.0);
  EXPECT_TRUE(within(each, 880 + 20, 0.10));
}

// Measured: RRZE gpu-cache and gpu-stream on MI300X.
TEST(memory, streaming_reads_reach_the_measured_bandwidths) {
  const double per_tb = 1e12 / 2.1e9 / 304;
  EXPECT_TRUE(within(stream(4 << 10), 38.6 * per_tb, 0.10));    // L1: 16 KB a CU
  EXPECT_TRUE(within(stream(20 << 10), 27.5 * per_tb, 0.10));   // L2: 80 KB a CU
  EXPECT_TRUE(within(stream(16 << 20, 2), 4.1 * per_tb, 0.10)); // HBM: 4 GB a launch
}

TEST(memory, scattered_lanes_cost_a_line_each) {
  const auto run = [&](uint32_t stride) {
    Traced k("loop:\n" + times(16, "global_load_dword v4, v[0:1], off") +
                 "s_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\ns_endpgm",
             4);
    const uint32_t row = k.strided(stride, 4);
    k.trips = 20;
    k.access = [=](const Occurrence&) { return Access{row, 0x1000000}; };
    return k.cycles(mi300x);
  };
  EXPECT_GT(run(128), 6 * run(4));
}

TEST(memory, four_merged_loads_beat_four_single_ones) {
  const auto run = [&](const std::string& loads, uint32_t bytes) {
    Traced k("loop:\n" + loads + "s_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\ns_endpgm", 4);
    const uint32_t row = k.strided(16, bytes);
    k.trips = 100;
    k.workgroups = {304 * 8, 1, 1};
    k.access = [=](const Occurrence& o) { return Access{row, 0x1000000 + o.wave * 1024ull}; };
    return k.cycles(mi300x);
  };
  EXPECT_LT(run("global_load_dwordx4 v[4:7], v[0:1], off\n", 16),
            0.8 * run(times(4, "global_load_dword v4, v[0:1], off"), 4));
}

TEST(memory, waiting_later_overlaps_work_with_the_load) {
  const std::string work = times(40, "v_add_f32 v20, v21, v22");
  const auto run = [&](const std::string& body) {
    Traced k("loop:\n" + body + "s_cbranch_scc1 loop\ns_endpgm");
    const uint32_t row = k.strided(4, 4);
    k.trips = 50;
    k.access = [=](const Occurrence& o) { return Access{row, 0x1000000 + o.times * 4096ull}; };
    return k.cycles(mi300x);
  };
  const double early = run("global_load_dword v4, v[0:1], off\ns_waitcnt vmcnt(0)\n" + work);
  const double late = run("global_load_dword v4, v[0:1], off\n" + work + "s_waitcnt vmcnt(0)\n");
  EXPECT_TRUE(within(early - late, 50 * 160, 0.05));
}

TEST(memory, vmcnt_frees_the_oldest_load_first) {
  const auto run = [&](int count) {
    Traced k("global_load_dword v4, v[0:1], off\nglobal_load_dword v5, v[2:3], off\ns_waitcnt vmcnt(" +
             std::to_string(count) + ")\n" + times(100, "v_add_f32 v20, v4, v22") + "s_endpgm");
    const uint32_t row = k.strided(4, 4), wide = k.strided(4096, 4);
    k.access = [=](const Occurrence& o) { return Access{o.instruction ? wide : row, 0x1000000}; };
    return k.cycles(mi300x);
  };
  EXPECT_GT(run(0), run(1) + 50);
}

} // namespace asmevo::timing
