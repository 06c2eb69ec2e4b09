// Which parameter a verdict rests on.
#include "timing/sensitivity.h"
#include "timing/traced.h"

#include <algorithm>

namespace asmevo::timing {
namespace {

const DeviceTable& mi300x = device_for(isa::Processor::gfx942);
constexpr EstimateOptions asked{.draws = 1, .sensitivity = true};

/// A thousand loads that hit L2, each waited for.
Traced loads() {
  Traced k("loop:\nglobal_load_dword v1, v[2:3], off sc0 sc1\ns_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\ns_endpgm");
  k.trips = 1000;
  const uint32_t row = k.strided(4, 4);
  k.access = [=](const Occurrence&) { return Access{row, 0x1000000}; };
  return k;
}

/// A thousand times `nops` of four clocks.
Traced pauses(unsigned nops) {
  Traced k("loop:\n" + times(nops, "s_nop 0") + "s_cbranch_scc1 loop\ns_endpgm");
  k.trips = 1000;
  return k;
}

const Effect* effect_of(const Sensitivity& s, std::string_view name) {
  const auto found = std::ranges::find_if(s.effects, [&](const Effect& e) { return e.parameter->name == name; });
  return found == s.effects.end() ? nullptr : &*found;
}

size_t index_of(std::string_view name) {
  return size_t(std::ranges::find(parameter_info, name, &ParameterInfo::name) - std::begin(parameter_info));
}

} // namespace

TEST(sensitivity, shifts_one_parameter_to_the_end_of_its_bar_and_no_other) {
  const Parameter latency = parameter_of(mi300x, index_of("l2_latency"));
  ASSERT_GT(latency.error, 0);
  Values low = shift(mi300x, index_of("l2_latency"), -1);
  EXPECT_EQ(low.l2_latency, latency.value - latency.error);
  low.l2_latency = latency.value;
  const Values nominal = draw(mi300x, 0, 0);
  EXPECT_EQ(std::memcmp(&low, &nominal, sizeof low), 0);
}

TEST(sensitivity, a_close_verdict_between_loads_and_arithmetic_depends_on_the_latency) {
  const Estimate k0 = loads().estimate(mi300x, asked);
  const double per_trip = k0.kernel_cycles / 1000;
  const double base = pauses(10).cycles(mi300x) / 1000 - 40;
  const Estimate k1 = pauses(unsigned(std::lround((per_trip - base) / 4))).estimate(mi300x, asked);
  const Sensitivity s = sensitivity(k0, k1, 0.002);
  EXPECT_TRUE(within(s.nominal, 1, 0.015));
  const Effect* latency = effect_of(s, "l2_latency");
  ASSERT_NE(latency, nullptr);
  EXPECT_TRUE(latency->decides);
  EXPECT_LT(latency->low, s.nominal);
  EXPECT_GT(latency->high, s.nominal);
  EXPECT_TRUE(s.effects.front().decides); // those that decide come first
}

TEST(sensitivity, a_clear_verdict_depends_on_nothing) {
  const Estimate k0 = loads().estimate(mi300x, asked), k1 = pauses(10).estimate(mi300x, asked);
  const Sensitivity s = sensitivity(k0, k1, 0.002);
  EXPECT_EQ(s.verdict, Order::faster);
  EXPECT_TRUE(std::ranges::none_of(s.effects, &Effect::decides));
  EXPECT_NE(effect_of(s, "l2_latency"), nullptr);
  EXPECT_EQ(sensitivity(k1, k0, 0.002).verdict, Order::slower);
}

TEST(sensitivity, leaves_out_what_has_no_effect) {
  const Estimate k0 = loads().estimate(mi300x, asked);
  EXPECT_EQ(effect_of(sensitivity(k0), "mfma_result"), nullptr);
  EXPECT_NE(effect_of(sensitivity(k0), "l2_latency"), nullptr);
  const Sensitivity with_itself = sensitivity(k0, k0, 0.002);
  EXPECT_EQ(with_itself.verdict, Order::same);
  EXPECT_TRUE(with_itself.effects.empty());
}

TEST(sensitivity, is_only_worked_out_when_asked_for) { EXPECT_TRUE(loads().estimate(mi300x).shifted.empty()); }

TEST(order, is_the_same_within_epsilon) {
  EXPECT_EQ(order_of(1.001, 0.002), Order::same);
  EXPECT_EQ(order_of(0.999, 0.002), Order::same);
  EXPECT_EQ(order_of(1.003, 0.002), Order::faster);
  EXPECT_EQ(order_of(0.997, 0.002), Order::slower);
}

} // namespace asmevo::timing
