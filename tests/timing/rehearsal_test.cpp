// Other orders of a traced launch: what the rehearsal says is what the reordered code takes when it is traced itself.
#include "timing/rehearsal.h"

#include "timing/traced.h"

namespace asmevo::timing {
namespace {

const DeviceTable& mi300x = device_for(isa::Processor::gfx942);

/// A loop whose body is `lines`, each with the address it has in the trace: line k reads or writes its own rows.
Traced loop_of(const std::vector<std::string>& lines, const std::vector<uint32_t>& numbers) {
  std::string text = "s_nop 0\nloop:\n";
  for (const std::string& line : lines) text += line + "\n";
  Traced k(text + "s_cbranch_scc1 loop\ns_endpgm", 4);
  const uint32_t row = k.strided(16, 16), lds = k.strided(8, 4, machine::Space::lds);
  k.workgroups = {608, 1, 1};
  k.resident = 2;
  k.trips = 20;
  k.access = [=](const Occurrence& o) {
    const uint32_t number = numbers[o.instruction - 1];
    if (number >= 100) return Access{lds, 0};
    return Access{row, 0x1000000 * (number + 1) + (o.workgroup * 4ull + o.wave) * 20480 + o.times * 1024ull};
  };
  return k;
}

std::shared_ptr<const Rehearsal> rehearsal_of(Traced& k) {
  TracedLaunch launch = k.launch(mi300x);
  auto made = Rehearsal::create(launch, std::make_shared<machine::Trace>(k.trace), mi300x, {});
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *made;
}

std::vector<double> seconds_of(const Rehearsal& rehearsal, std::span<const Rehearsal::Stretch> stretches,
                               unsigned draws) {
  const Rehearsal::Arrangement arrangement = rehearsal.arrange(stretches);
  std::vector<double> seconds;
  for (unsigned d = 0; d < draws; ++d) seconds.push_back(arrangement.seconds(d));
  return seconds;
}

const std::vector<std::string> body = {
    "global_load_dwordx4 v[0:3], v[20:21], off",  // 1
    "s_waitcnt vmcnt(0)",                         // 2
    "v_add_f32_e32 v4, v0, v1",                   // 3
    "global_load_dwordx4 v[8:11], v[22:23], off", // 4
    "ds_read_b32 v12, v24",                       // 5
    "v_mul_f32_e32 v5, v4, v4",                   // 6
    "s_waitcnt vmcnt(0) lgkmcnt(0)",              // 7
    "v_add_f32_e32 v6, v8, v12",                  // 8
};

} // namespace

TEST(rehearsal, the_order_that_was_traced_takes_what_it_takes) {
  Traced k = loop_of(body, {1, 0, 0, 4, 100, 0, 0, 0});
  const Estimate estimate = k.estimate(mi300x, {.draws = 3});
  EXPECT_EQ(seconds_of(*rehearsal_of(k), {}, 3), estimate.seconds);
}

TEST(rehearsal, another_order_takes_what_the_reordered_code_takes) {
  Traced before = loop_of(body, {1, 0, 0, 4, 100, 0, 0, 0});
  const std::vector<std::string> moved = {body[0], body[3],   body[4], "s_waitcnt vmcnt(1)", body[2], body[5],
                                          body[6], "s_nop 1", body[7]};
  Traced after = loop_of(moved, {1, 4, 100, 0, 0, 0, 0, 0, 0});
  const isa::Instruction wait = after.code[4], nop = after.code[8];
  const Rehearsal::Stretch stretch = {.first = 1,
                                      .last = 9,
                                      .steps = {{.instruction = 1},
                                                {.instruction = 4},
                                                {.instruction = 5},
                                                {.added = &wait},
                                                {.instruction = 3},
                                                {.instruction = 6},
                                                {.instruction = 7},
                                                {.added = &nop},
                                                {.instruction = 8}}};
  const Estimate estimate = after.estimate(mi300x, {.draws = 3});
  EXPECT_EQ(seconds_of(*rehearsal_of(before), std::span(&stretch, 1), 3), estimate.seconds);
  EXPECT_NE(estimate.seconds[0], before.estimate(mi300x).seconds[0]);
}

TEST(rehearsal, code_behind_a_stretch_that_grows_begins_later) {
  const auto text = [](const std::string& nops) {
    return nops + "loop:\n" + times(30, "v_add_f32_e64 v1, v2, v3") + "s_cbranch_scc1 loop\ns_endpgm";
  };
  Traced before(text("s_nop 0\n")), after(text("s_nop 0\ns_nop 0\n"));
  before.trips = after.trips = 50;
  const isa::Instruction nop = after.code[0];
  const Rehearsal::Stretch stretch = {.first = 0, .last = 1, .steps = {{.instruction = 0}, {.added = &nop}}};
  const double grown = after.estimate(mi300x).seconds[0];
  EXPECT_EQ(seconds_of(*rehearsal_of(before), std::span(&stretch, 1), 1)[0], grown);
  EXPECT_NE(before.estimate(mi300x).seconds[0], grown); // the loop's first instruction lies across two fetch blocks
}

TEST(rehearsal, a_long_grid_is_rehearsed_on_few_generations) {
  Traced k = loop_of(body, {1, 0, 0, 4, 100, 0, 0, 0});
  k.workgroups = {304 * 64, 1, 1};
  EXPECT_LE(rehearsal_of(k)->instructions(), 24'000);
  const double whole = k.estimate(mi300x).seconds[0], rehearsed = rehearsal_of(k)->arrange({}).seconds(0);
  EXPECT_TRUE(within(rehearsed, whole, 0.05));
}

TEST(rehearsal, a_trace_of_other_code_is_an_error) {
  Traced k("v_add_f32_e32 v1, v2, v3\ns_endpgm");
  TracedLaunch launch = k.launch(mi300x);
  auto trace = std::make_shared<machine::Trace>(k.trace);
  trace->waves[0].events[0].instruction = 7;
  EXPECT_FALSE(Rehearsal::create(launch, trace, mi300x, {}));
}

} // namespace asmevo::timing
