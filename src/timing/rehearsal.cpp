// Traces in another order.
#include "timing/rehearsal.h"

#include "timing/share.h"

#include <algorithm>

namespace asmevo::timing {

namespace {

// Wave-instructions of a draw where a choice exists: an order shows in few of them what it is worth.
constexpr double rehearsal_budget = 24'000;

/// Addresses as the stretches leave them. The indices of what they add, in order.
std::vector<uint32_t> lay_out(StaticTable& code, std::span<const Rehearsal::Stretch> stretches,
                              const isa::Target& target) {
  const auto size = static_cast<uint32_t>(code.size());
  std::vector<uint32_t> added;
  uint64_t moved = 0; // code behind the last stretch, by so many bytes
  uint32_t next = 0;
  const auto move_until = [&](uint32_t end) {
    for (; next < end; ++next)
      if (moved != 0) code.place(next, code[next].address + moved);
  };
  for (const Rehearsal::Stretch& stretch : stretches) {
    move_until(stretch.first);
    const uint64_t end = code[stretch.last - 1].fallthrough + moved;
    uint64_t at = code[stretch.first].address + moved;
    for (const Rehearsal::Step& step : stretch.steps) {
      if (step.added) added.push_back(code.append(*step.added, target));
      at = code.place(step.added ? added.back() : step.instruction, at);
    }
    moved += at - end;
    next = stretch.last;
  }
  move_until(size);
  return added;
}

} // namespace

Result<std::shared_ptr<const Rehearsal>> Rehearsal::create(const TracedLaunch& launch,
                                                           std::shared_ptr<const machine::Trace> trace,
                                                           const DeviceTable& device, const EstimateOptions& options) {
  TracedLaunch kept = launch;
  kept.trace = trace.get();
  AE_CHECK(check(kept));
  return std::shared_ptr<const Rehearsal>(new Rehearsal(kept, std::move(trace), device, options));
}

Rehearsal::Rehearsal(const TracedLaunch& launch, std::shared_ptr<const machine::Trace> trace, const DeviceTable& device,
                     const EstimateOptions& options)
    : trace_(std::move(trace)), device_(device), target_(launch.target),
      workgroups_per_cu_(launch.occupancy.workgroups_per_cu), options_(options), code_(launch.code, launch.target),
      patterns_(*trace_, device.processor),
      grid_(*trace_, launch.workgroups, code_, patterns_, device, launch.occupancy.workgroups_per_cu),
      surroundings_(surroundings_of(grid_, device, options.repeated)), simulated_(trace_->waves.size()) {
  const Share share = share_of_a_cu(grid_, device_, workgroups_per_cu_, draw(device_, 0, 0), rehearsal_budget);
  for (const uint64_t id : share.program.workgroups)
    for (const machine::WaveTrace* wave : grid_.samples()[grid_.stand_in(id)].waves) {
      simulated_[size_t(wave - trace_->waves.data())] = true;
      instructions_ += double(wave->events.size());
    }
}

machine::Trace Rehearsal::rearranged(std::span<const Stretch> stretches, std::span<const uint32_t> added) const {
  std::vector<uint32_t> begins(code_.size(), 0); // by instruction: number of the stretch + 1
  std::vector<size_t> first_added;
  for (size_t before = 0; const Stretch& stretch : stretches) {
    first_added.push_back(before);
    begins[stretch.first] = static_cast<uint32_t>(first_added.size());
    before += size_t(std::ranges::count_if(stretch.steps, [](const Step& step) { return step.added != nullptr; }));
  }
  machine::Trace trace{.patterns = trace_->patterns, .waves = std::vector<machine::WaveTrace>(trace_->waves.size())};
  for (size_t w = 0; w < trace_->waves.size(); ++w) {
    const machine::WaveTrace& old = trace_->waves[w];
    trace.waves[w].workgroup = old.workgroup;
    trace.waves[w].wave = old.wave;
    if (!simulated_[w]) continue;
    auto& events = trace.waves[w].events;
    events.reserve(old.events.size() + old.events.size() / 8);
    for (size_t i = 0; i < old.events.size();) {
      const uint32_t number = begins[old.events[i].instruction];
      const Stretch* stretch = number ? &stretches[number - 1] : nullptr;
      const size_t length = stretch ? stretch->last - stretch->first : 0;
      if (!stretch || i + length > old.events.size() || old.events[i + length - 1].instruction + 1 != stretch->last) {
        events.push_back(old.events[i++]);
        continue;
      }
      for (size_t next = first_added[number - 1]; const Step& step : stretch->steps)
        events.push_back(step.added ? machine::TraceEvent{.instruction = added[next++]}
                                    : old.events[i + (step.instruction - stretch->first)]);
      i += length;
    }
  }
  return trace;
}

Rehearsal::Arrangement::Arrangement(const Rehearsal& rehearsal, std::span<const Stretch> stretches)
    : rehearsal_(rehearsal), code_(rehearsal.code_) {
  const std::vector<uint32_t> added = lay_out(code_, stretches, rehearsal.target_);
  trace_ = rehearsal.rearranged(stretches, added);
  grid_ = rehearsal.grid_.retraced(*rehearsal.trace_, trace_, code_);
}

double Rehearsal::Arrangement::seconds(unsigned draw) const {
  const Rehearsal& r = rehearsal_;
  Values values = timing::draw(r.device_, r.options_.seed, draw);
  if (r.options_.power_limited) values.clock = std::min(values.clock, values.power_limited_clock);
  const Share share = share_of_a_cu(*grid_, r.device_, r.workgroups_per_cu_, values, rehearsal_budget);
  const CuResult cu =
      simulate(share.program, code_, r.patterns_, *grid_, trace_, r.device_, values, r.surroundings_, nullptr);
  const double cycles = double(cu.end) + extrapolated_cycles(share, cu);
  return 1e-6 * (values.launch_floor + cycles / values.clock);
}

} // namespace asmevo::timing
