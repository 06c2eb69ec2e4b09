#include "oracle/way.h"

namespace asmevo::oracle {

using machine::Schedule;

namespace {

constexpr Way ways[] = {
    {.name = "as the launch file says"},
    {.name = "another input, after an earlier launch, buffers moved, other poison and register contents, waves run to "
             "barriers",
     .other_input = true,
     .poison = 2,
     .undefined = 2,
     .placement = 1,
     .schedule = Schedule::run_to_barrier,
     .after_earlier = true},
    {.name = "waves take turns at random, firmware that preloads no arguments",
     .schedule = Schedule::seeded_random,
     .preload = false},
    {.name = "results of loads arrive only when waits force them", .schedule = Schedule::late_loads},
    {.name = "infinities meet each other", .crowded = true},
};

uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// Seed 0 is the launch file's own input.
uint64_t shifted(uint64_t seed, uint64_t by) { return by ? seed + mixed(by) : seed; }

/// An epsilon or a scale that the candidate has not seen; integers are sizes and strides and must stay.
void change_real_scalars(launch::Case& c) {
  for (launch::Argument& a : c.arguments) {
    if (!a.dtype || !launch::is_floating(*a.dtype)) continue;
    double value = launch::value_of(*a.dtype, launch::load_bits(*a.dtype, a.value.data()));
    launch::store_bits(*a.dtype, launch::bits_of(*a.dtype, value * 1.25), a.value.data());
  }
}

/// Rare special values hardly ever meet: that two of them come to the same instruction takes many.
void crowd(launch::Case& c) {
  constexpr double least_share = 0.125;
  for (launch::Buffer& buffer : c.buffers)
    if (buffer.fill.kind == launch::FillKind::special && launch::is_floating(buffer.dtype))
      buffer.fill = {.kind = launch::FillKind::nonfinite, .a = std::max(buffer.fill.a, least_share)};
}

} // namespace

std::span<const Way> candidate_ways() { return ways; }

launch::Case case_for(const launch::Case& c, const Way& way, uint64_t seed) {
  launch::Case changed = c;
  changed.seed = shifted(c.seed, seed);
  if (way.crowded) crowd(changed);
  if (!way.other_input) return changed;
  changed.seed = mixed(changed.seed + 0x9e3779b97f4a7c15);
  change_real_scalars(changed);
  return changed;
}

device::LaunchOptions options_for(const launch::Case& c, const Way& way, uint64_t seed) {
  device::LaunchOptions options;
  options.poison_seed = shifted(way.poison, seed);
  options.placement = way.placement;
  options.preload = way.preload;
  options.run.schedule = way.schedule;
  options.run.seed = shifted(1, seed);
  options.run.undefined_seed = shifted(way.undefined, seed);
  if (way.after_earlier)
    options.earlier.push_back({.c = case_for(c, Way{.name = {}}, seed), .preload = way.preload, .schedule = {}});
  return options;
}

} // namespace asmevo::oracle
