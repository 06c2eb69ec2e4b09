// Which ways of which cases a look asks for.
#include "oracle/bench.h"

#include <cmath>
#include <set>

using namespace asmevo;
using namespace asmevo::oracle;
using namespace asmevo::oracle::testing;

TEST(Ways, a_case_that_is_much_heavier_than_the_others_runs_once_at_first_look) {
  Bench bench(affine, replaced(R"("rows": 16)", R"("rows": 20000)"));
  EXPECT_EQ(bench.judge(affine, {.looks = Looks::first}).runs, 5u);
  EXPECT_EQ(bench.judge(affine, {.seed = 3, .looks = Looks::second}).runs, 6u);
  EXPECT_EQ(bench.judge(affine).runs, 8u);
  EXPECT_NE(bench.judge(affine, {.looks = Looks::first}).cases, bench.judge(affine).cases);
}

TEST(Ways, the_second_look_meets_another_input_and_memory_that_was_used) {
  Bench bench(affine, replaced(R"("rows": 16)", R"("rows": 20000)"));
  std::set<float> first, second; // inputs of the heavy case
  const auto looking = [&](std::set<float>& inputs) {
    return [&](World& w) {
      if (w.floats("in").size() < 64 * 20000) return affine(w);
      inputs.insert(w.floats("in")[0]);
      affine(w);
    };
  };
  EXPECT_EQ(bench.judge(looking(first), {.looks = Looks::first}).finding, Finding::equivalent);
  EXPECT_EQ(first.size(), 1u);
  EXPECT_EQ(bench.judge(looking(second), {.seed = 5, .looks = Looks::second}).finding, Finding::equivalent);
  EXPECT_EQ(second.size(), 2u); // another, after the first one under other turns
  EXPECT_TRUE(second.contains(*first.begin()));
}

TEST(Ways, the_earlier_launch_is_judged_in_a_way_of_its_own) {
  FakeDevice device;
  auto launch = launch::parse_launch(text, "l.json");
  auto reference = Reference::create(device, device.add("k0", affine), *launch, default_policy());
  ASSERT_TRUE(reference);
  const auto judge = [&](Kernel kernel) { return *verify(device, *reference, device.add("k1", std::move(kernel))); };
  EXPECT_EQ(judge(affine).runs, 8u);
  EXPECT_EQ(device.launches["k1"], 6); // of two cases: as the file says, twice, and late loads
  const Judgement j = judge([](World& w) {
    affine(w);
    if (w.options.run.schedule == machine::Schedule::seeded_random) w.floats("out")[5] = 7;
  });
  EXPECT_EQ(j.finding, Finding::divergence);
  EXPECT_NE(j.evidence.find("waves take turns at random"), std::string::npos) << j.evidence;
}

TEST(Ways, an_earlier_launch_that_goes_wrong_only_there_is_a_divergence) {
  const Judgement j = Bench().judge([](World& w) {
    affine(w);
    if (w.options.placement == 1 && w.options.run.schedule == machine::Schedule::seeded_random) w.floats("out")[5] = 7;
  });
  EXPECT_EQ(j.finding, Finding::divergence);
  EXPECT_NE(j.evidence.find("waves take turns at random"), std::string::npos) << j.evidence;
}

TEST(Ways, where_K0_leaves_poison_the_earlier_launch_has_no_way_of_its_own) {
  const Kernel leaves_some = [](World& w) {
    auto in = w.floats("in"), out = w.floats("out");
    for (size_t i = 0; i < in.size(); i += 2) out[i] = 2 * in[i] + 1;
  };
  Bench bench(leaves_some);
  EXPECT_EQ(bench.judge(leaves_some).finding, Finding::equivalent);
  EXPECT_EQ(bench.device.launches["k1"], 8);
  EXPECT_EQ(bench.judge(affine).finding, Finding::divergence);
}

TEST(Ways, a_case_that_takes_no_time_is_not_heavy_however_light_the_others_are) {
  Bench bench(affine, replaced(R"("rows": 16)", R"("rows": 160)"));
  EXPECT_EQ(bench.judge(affine, {.looks = Looks::first}).runs, 8u);
}

TEST(Ways, cases_of_about_the_same_weight_run_in_every_way_at_each_look) {
  Bench bench(affine, replaced(R"("rows": 3)", R"("rows": 15)"));
  EXPECT_EQ(bench.judge(affine, {.looks = Looks::first}).runs, 8u);
  EXPECT_EQ(bench.judge(affine, {.seed = 3, .looks = Looks::second}).runs, 8u);
}

TEST(Ways, light_cases_with_special_values_can_be_looked_at_alone) {
  EXPECT_EQ(Bench().judge(affine, {.seed = 3, .looks = Looks::special}).runs, 0u);
  Bench bench(affine, replaced(R"({"rows": 3}})", R"({"rows": 3}, "buffers": {"in": {"fill": {"special": 0.5}}}})"));
  EXPECT_EQ(bench.judge(affine, {.seed = 3, .looks = Looks::special}).runs, 1u);
  const Kernel forgetful = [](World& w) {
    affine(w);
    for (float& v : w.floats("out"))
      if (std::isnan(v)) v = 0;
  };
  EXPECT_EQ(bench.judge(forgetful, {.seed = 3, .looks = Looks::special}).finding, Finding::divergence);
}

namespace {

constexpr std::string_view rare_special = R"({"rows": 300}, "buffers": {"in": {"fill": {"special": 0.001}}}})";

/// out = each number less its neighbour
void differences(World& w) {
  auto in = w.floats("in"), out = w.floats("out");
  for (size_t i = 0; i < in.size(); ++i) out[i] = in[i] - in[i ^ 1];
}

} // namespace

TEST(Ways, what_is_wrong_only_where_two_infinities_meet_is_a_divergence) {
  const Kernel blind = [](World& w) {
    differences(w);
    auto in = w.floats("in"), out = w.floats("out");
    for (size_t i = 0; i < in.size(); ++i)
      if (std::isinf(in[i]) && in[i] == in[i ^ 1]) out[i] = in[i];
  };
  EXPECT_EQ(Bench(differences).judge(blind).finding, Finding::equivalent);
  Bench bench(differences, replaced(R"({"rows": 3}})", rare_special));
  const Judgement j = bench.judge(blind);
  EXPECT_EQ(j.finding, Finding::divergence);
  EXPECT_NE(j.evidence.find("infinities meet each other"), std::string::npos) << j.evidence;
  EXPECT_EQ(bench.judge(differences).finding, Finding::equivalent);
}

TEST(Ways, sums_in_another_order_agree_where_infinities_meet) {
  const auto sums = [](bool backwards) {
    return [backwards](World& w) {
      auto in = w.floats("in"), out = w.floats("out");
      for (size_t row = 0; row < in.size(); row += 64) {
        float sum = 0;
        for (size_t i = 0; i < 64; ++i) sum += in[row + (backwards ? 63 - i : i)];
        for (size_t i = 0; i < 64; ++i) out[row + i] = sum;
      }
    };
  };
  Bench bench(sums(false), replaced(R"({"rows": 3}})", rare_special));
  const Judgement j = bench.judge(sums(true), {.seed = 3, .looks = Looks::special});
  EXPECT_EQ(j.finding, Finding::equivalent) << j.evidence;
}

TEST(Ways, a_kernel_that_cannot_bear_many_special_values_is_judged_on_few) {
  const Kernel delicate = [](World& w) {
    affine(w);
    size_t infinite = 0;
    for (float v : w.floats("in")) infinite += std::isinf(v);
    if (infinite > 4) w.outcome.status = machine::Status::fault;
  };
  Bench bench(delicate, replaced(R"({"rows": 3}})", rare_special));
  EXPECT_TRUE(bench.has_note("fails when special values are many")) << bench.error;
  EXPECT_EQ(bench.judge(delicate, {.seed = 3, .looks = Looks::special}).runs, 1u);
  EXPECT_EQ(bench.judge(affine, {.seed = 3}).finding, Finding::equivalent);
}
