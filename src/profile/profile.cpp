#include "profile/profile.h"

#include <algorithm>

namespace asmevo::profile {

std::string_view reason_name(Reason reason) {
  static constexpr std::string_view names[] = {
      "dependency", "vmcnt", "lgkmcnt",      "expcnt",   "wait",  "pipe busy", "LDS conflict", "memory throughput",
      "barrier",    "fetch", "not selected", "internal", "sleep", "other",     "unknown"};
  static_assert(std::size(names) == reason_count);
  return reason < Reason::count_ ? names[size_t(reason)] : "none";
}

Reason reason_of(timing::Stall stall) {
  static constexpr Reason reasons[] = {
      Reason::dependency, Reason::vmcnt,        Reason::lgkmcnt,           Reason::expcnt,
      Reason::pipe_busy,  Reason::lds_conflict, Reason::memory_throughput, Reason::barrier,
      Reason::fetch,      Reason::not_selected};
  static_assert(std::size(reasons) == size_t(timing::Stall::count_));
  return reasons[size_t(stall)];
}

void add(Stalls& to, const Stalls& more) {
  for (size_t r = 0; r < reason_count; ++r) to[r] += more[r];
}

Reason largest(const Stalls& stalls) {
  const auto most = std::ranges::max_element(stalls);
  return *most > 0 ? Reason(most - stalls.begin()) : Reason::count_;
}

const Row* Profile::at(uint64_t address) const {
  const auto found = std::ranges::lower_bound(rows, address, {}, &Row::address);
  return found != rows.end() && found->address == address ? &*found : nullptr;
}

double Profile::total() const {
  double all = speed ? speed->dispatch + speed->drain : 0;
  for (const Row& row : rows) all += cost(row);
  return all;
}

Profile from_estimate(const timing::Estimate& estimate, std::span<const isa::Instruction> code, std::string source) {
  Profile profile{.source = std::move(source), .unit = "clk", .exposure = true};
  for (size_t i = 0; i < std::min(estimate.attribution.size(), code.size()); ++i) {
    const timing::Attribution& a = estimate.attribution[i];
    if (a.issues == 0) continue;
    Row row{.address = code[i].address, .issues = double(a.issues), .issue = a.issue_cycles, .busy = a.busy_cycles};
    for (size_t s = 0; s < a.stall_cycles.size(); ++s) {
      const auto reason = size_t(reason_of(timing::Stall(s)));
      row.stalls[reason] += a.stall_cycles[s];
      row.exposed[reason] += a.exposed_cycles[s];
    }
    profile.rows.push_back(row);
  }
  for (const timing::Dependence& d : estimate.dependences)
    profile.edges.push_back({.producer = code[d.producer].address,
                             .consumer = code[d.consumer].address,
                             .reason = reason_of(d.reason),
                             .stall = d.cycles,
                             .exposed = d.exposed});
  profile.speed = Speed{.seconds = estimate.median,
                        .cv = estimate.cv,
                        .kernel_cycles = estimate.kernel_cycles,
                        .simulated_cycles = estimate.simulated_cycles,
                        .extrapolated_cycles = estimate.extrapolated_cycles,
                        .dispatch = estimate.dispatch_cycles,
                        .drain = estimate.drain_cycles,
                        .bound = estimate.bound,
                        .loads = estimate.loads,
                        .occupancy = estimate.occupancy};
  std::ranges::stable_sort(profile.speed->loads, std::ranges::greater(), &timing::Load::share);
  return profile;
}

} // namespace asmevo::profile
