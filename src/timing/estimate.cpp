// The whole launch, from one compute unit's share of it.
#include "timing/estimate.h"

#include "timing/share.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tbb/parallel_for.h>
#include <tuple>

namespace asmevo::timing {

namespace {

std::vector<Load> loads_of(const CuResult& cu) {
  const double clocks = std::max(1.0, double(cu.end));
  return {
      {"hbm", cu.traffic.memory_busy / clocks, cu.traffic.memory_bytes, cu.traffic.hbm_bytes},
      {"l2", cu.traffic.l2_busy / clocks, cu.traffic.l2_bytes},
      {"l1", cu.traffic.l1_busy / clocks, cu.traffic.l1_bytes},
      {"lds", cu.lds_busy / 2 / clocks},
      {"valu", cu.valu_busy / 4 / clocks},
      {"mfma", cu.mfma_busy / 4 / clocks},
      {"issue", cu.issue_turns / clocks},
  };
}

// The resource that is busy most of the time, if any is busy for more than three fifths of it. Issue is the last to be
// named: whatever a pipe does was issued.
std::string bound_of(const std::vector<Load>& loads, double kernel_microseconds, double floor) {
  if (kernel_microseconds < floor / 2) return "launch";
  const auto rank = [](const Load& l) {
    return l.share > 0.6 ? std::pair(l.resource != "issue", l.share) : std::pair(false, 0.0);
  };
  const auto most = std::ranges::max_element(loads, {}, rank);
  return most->share > 0.6 ? std::string(most->resource) : "latency";
}

void add_account(Account account, const CuResult& cu, Estimate& estimate) {
  estimate.attribution = std::move(account.attribution);
  for (size_t i = 0; i < cu.uses.size(); ++i) {
    Attribution& a = estimate.attribution[i];
    a.lines = cu.uses[i].lines;
    a.reused_in_l1 = cu.uses[i].reused_in_l1;
    a.reused_in_l2 = cu.uses[i].reused_in_l2;
  }
  estimate.dependences = std::move(account.dependences);
  estimate.dispatch_cycles = account.dispatch_cycles;
  estimate.drain_cycles = account.drain_cycles;
  estimate.timeline = std::move(account.timeline);
}

void summarise(Estimate& e) {
  std::vector<double> sorted = e.seconds;
  std::ranges::sort(sorted);
  const size_t n = sorted.size();
  e.median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / double(n);
  double squares = 0;
  for (double s : sorted) squares += (s - mean) * (s - mean);
  e.cv = n > 1 ? std::sqrt(squares / double(n - 1)) / mean : 0;
}

} // namespace

Result<void> check(const TracedLaunch& launch) {
  if (!launch.trace || launch.trace->waves.empty()) return fail("timing: the trace holds no wave");
  const uint64_t count = uint64_t{launch.workgroups[0]} * launch.workgroups[1] * launch.workgroups[2];
  for (const machine::WaveTrace& wave : launch.trace->waves) {
    if (wave.workgroup >= count)
      return fail("timing: the trace has workgroup {} of a grid of {}", wave.workgroup, count);
    for (const machine::TraceEvent& e : wave.events)
      if (e.instruction >= launch.code.size())
        return fail("timing: the trace names instruction {} of {}", e.instruction, launch.code.size());
  }
  return {};
}

Result<Estimate> estimate_traced(const TracedLaunch& launch, const DeviceTable& device,
                                 const EstimateOptions& options) {
  AE_CHECK(check(launch));
  const StaticTable code(launch.code, launch.target);
  const PatternTable patterns(*launch.trace, device.processor);
  const Grid grid(*launch.trace, launch.workgroups, code, patterns, device, launch.occupancy.workgroups_per_cu);
  const Surroundings surroundings = surroundings_of(grid, device, options.repeated);

  Estimate estimate;
  estimate.occupancy = launch.occupancy;
  const auto limited = [&](Values values) {
    if (options.power_limited) values.clock = std::min(values.clock, values.power_limited_clock);
    return values;
  };
  const auto run = [&](const Values& values, Ledger* ledger) {
    const Share share = share_of_a_cu(grid, device, launch.occupancy.workgroups_per_cu, values);
    CuResult cu = simulate(share.program, code, patterns, grid, *launch.trace, device, values, surroundings, ledger);
    const double extrapolated = extrapolated_cycles(share, cu);
    return std::tuple(std::move(cu), extrapolated);
  };
  const auto seconds_of = [](const Values& values, double cycles) {
    return 1e-6 * (values.launch_floor + cycles / values.clock);
  };
  std::optional<Ledger> ledger; // of the first draw
  if (options.attribution) ledger.emplace(launch.code.size(), options.timeline);
  CuResult first;
  estimate.seconds.resize(std::max(1u, options.draws));
  tbb::parallel_for(size_t{0}, estimate.seconds.size(), [&](size_t d) {
    const Values values = limited(draw(device, options.seed, unsigned(d)));
    auto [cu, extrapolated] = run(values, d == 0 && ledger ? &*ledger : nullptr);
    const double cycles = double(cu.end) + extrapolated;
    estimate.seconds[d] = seconds_of(values, cycles);
    if (d != 0) return;
    estimate.kernel_cycles = cycles;
    estimate.simulated_cycles = double(cu.end);
    estimate.extrapolated_cycles = extrapolated;
    estimate.loads = loads_of(cu);
    estimate.bound = bound_of(estimate.loads, cycles / values.clock, values.launch_floor);
    first = std::move(cu);
  });
  estimate.wave_cycles = first.wave_cycles;
  if (ledger) add_account(ledger->close(first.end), first, estimate);
  for (size_t i = 0; options.sensitivity && i < parameter_count; ++i) {
    const Parameter p = parameter_of(device, i);
    if (p.error == 0) continue;
    std::array<double, 2> ends;
    for (int end = 0; end < 2; ++end) {
      const Values values = limited(shift(device, i, 2 * end - 1));
      const auto [cu, extrapolated] = run(values, nullptr);
      ends[size_t(end)] = seconds_of(values, double(cu.end) + extrapolated);
    }
    estimate.shifted.push_back({.name = parameter_info[i].name,
                                .unit = parameter_info[i].unit,
                                .meaning = parameter_info[i].meaning,
                                .source = p.source,
                                .value = p.value,
                                .error = p.error,
                                .low_seconds = ends[0],
                                .high_seconds = ends[1]});
  }
  summarise(estimate);
  return estimate;
}

} // namespace asmevo::timing
