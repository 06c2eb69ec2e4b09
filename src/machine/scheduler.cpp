// Running a dispatch: which workgroups are on the device, for how long each goes on, and when the whole has ended.
//
// Workgroups come on in order of their linear id, and those that are there take turns. A kernel whose workgroups cannot
// communicate would run each to its end before the next comes: that is the fastest and needs the least memory. One that
// spins on what another workgroup writes needs the others to get on. So turns are short and many workgroups are
// resident where the instruction stream has global atomics, scalar stores or sleeps (may_communicate), and long with
// one resident where it has not; but even then a workgroup that does not end within its turn lets the next one on, so
// that a spin on plain loads makes progress too. All of this is counted in instructions: the order is the same on every
// machine.
#include "machine/execute.h"
#include "machine/tracer.h"

#include <algorithm>
#include <deque>

namespace asmevo::machine {

bool may_communicate(const isa::Instruction& i) {
  if (i.traits.atomic && !(i.traits.lds && !i.traits.vmem)) return true;
  if (i.traits.smem && i.traits.may_store) return true;
  return isa::name_of(i) == "s_sleep";
}

namespace {

constexpr uint64_t short_turn = 512, long_turn = uint64_t{1} << 22;
constexpr uint32_t max_resident = 1024;
constexpr uint64_t resident_memory = uint64_t{2} << 30; // host bytes for register files
constexpr uint64_t clock_interval = uint64_t{1} << 20;  // instructions between looks at the clock

uint32_t resident_limit(const LaunchPlan& plan) {
  const uint64_t bytes = uint64_t{plan.rows()} * sizeof(Row) * plan.max_waves + plan.lds_size +
                         uint64_t{plan.scratch_bytes} * lanes * plan.max_waves;
  return uint32_t(std::clamp<uint64_t>(resident_memory / bytes, 1, std::min<uint64_t>(max_resident, plan.workgroups)));
}

/// When a run has to end early.
class Limits {
public:
  Limits(const RunOptions& options)
      : options_(options), deadline_(std::chrono::steady_clock::now() + options.wall_budget) {}

  /// Instructions that may still run before the next check; 0 when the budget is spent.
  uint64_t allowance(uint64_t done, uint64_t wanted) const {
    return done >= options_.instruction_budget ? 0
                                               : std::min({wanted, options_.instruction_budget - done, clock_interval});
  }
  std::optional<Status> expired() const {
    if (options_.stop && *options_.stop) return Status::stopped;
    if (std::chrono::steady_clock::now() > deadline_) return Status::budget;
    return std::nullopt;
  }

private:
  const RunOptions& options_;
  std::chrono::steady_clock::time_point deadline_;
};

Fault standing(const LaunchPlan& plan, Residence& residence, std::string message) {
  Fault fault;
  Workgroup& group = residence.group();
  fault.workgroup = group.id;
  fault.message = std::move(message);
  std::string rest;
  for (const Wave& w : residence.waves()) {
    if (w.events & event::ended) continue;
    const uint32_t index = w.next->index;
    const bool known = index < plan.image->instructions.size();
    const uint64_t address = known ? plan.image->instructions[index].address : 0;
    if (fault.instruction < 0) {
      fault.wave = w.id;
      fault.instruction = known ? int64_t(index) : -1;
      fault.address = address;
    }
    rest += fmt::format("{}wave {} at {:#x}{}", rest.empty() ? "" : ", ", w.id, address,
                        w.events & event::barrier  ? " (barrier)"
                        : w.events & event::halted ? " (halted)"
                                                   : "");
  }
  if (!rest.empty()) fault.message += "; " + rest;
  return fault;
}

/// What several workgroups add up to.
struct Totals {
  uint64_t instructions = 0, waves = 0, approximate = 0;
  std::vector<uint8_t> approximate_seen;

  void finish(Residence& residence) {
    for (const Wave& w : residence.waves()) approximate += w.approximate;
    waves += residence.waves().size();
  }
  void see(const std::vector<uint8_t>& seen) {
    approximate_seen.resize(seen.size());
    for (size_t k = 0; k < seen.size(); ++k) approximate_seen[k] |= seen[k];
  }
};

/// Runs workgroups one after the other, or several in turns, on this thread.
class SerialRun {
public:
  SerialRun(const LaunchPlan& plan, Memory& memory, const Scratch& scratch, const RunOptions& options, uint32_t slots)
      : plan_(plan), memory_(memory), scratch_(scratch), options_(options), limits_(options), slots_(slots),
        executor_(options.schedule, options.seed) {}

  void run(RunResult& result, Totals& totals) {
    while (result.status == Status::completed && (admit() || !resident_.empty())) take_turn(result, totals);
    for (auto& place : resident_) totals.see(place.residence->approximate_seen());
    for (auto& residence : free_) totals.see(residence->approximate_seen());
    finish_traces(result);
  }

private:
  struct Place {
    std::unique_ptr<Residence> residence;
    std::unique_ptr<Tracer> tracer;
  };

  bool traced(uint32_t id) const { return std::binary_search(options_.traced.begin(), options_.traced.end(), id); }

  uint64_t count() const { return options_.only_traced ? options_.traced.size() : plan_.workgroups; }
  uint32_t workgroup(uint64_t k) const { return options_.only_traced ? options_.traced[k] : uint32_t(k); }

  /// Lets the next workgroup on, if there is one and there is room; short turns fill the device at once.
  bool admit() {
    const uint32_t wanted = plan_.image->communicates ? slots_ : std::min(slots_, wanted_);
    bool any = false;
    while (resident_.size() < wanted && next_ < count()) {
      Place place;
      if (free_.empty()) {
        place.residence = std::make_unique<Residence>(plan_, memory_, scratch_, made_++);
      } else {
        place.residence = std::move(free_.back());
        free_.pop_back();
      }
      const uint32_t id = workgroup(next_++);
      if (traced(id)) place.tracer = std::make_unique<Tracer>(id, plan_.max_waves);
      place.residence->begin(id, place.tracer.get());
      resident_.push_back(std::move(place));
      any = true;
    }
    return any;
  }

  void take_turn(RunResult& result, Totals& totals) {
    Place place = std::move(resident_.front());
    resident_.pop_front();
    const uint64_t length = plan_.image->communicates ? short_turn : long_turn;
    Turn turn;
    for (uint64_t done = 0; done < length && turn.end == TurnEnd::limit; done += turn.instructions) {
      const uint64_t allowance = limits_.allowance(totals.instructions, length - done);
      if (allowance == 0) {
        result.status = Status::budget;
        result.fault = standing(plan_, *place.residence,
                                fmt::format("{} instructions executed, the budget is spent", totals.instructions));
        break;
      }
      turn = executor_.run(*place.residence, allowance);
      totals.instructions += turn.instructions;
      since_clock_ += turn.instructions;
      if (since_clock_ < clock_interval) continue;
      since_clock_ = 0;
      if (auto status = limits_.expired()) {
        result.status = *status;
        result.fault = standing(plan_, *place.residence,
                                *status == Status::stopped ? "stopped" : "the wall-clock budget is spent");
        break;
      }
    }
    conclude(turn.end, std::move(place), result, totals);
  }

  void conclude(TurnEnd end, Place place, RunResult& result, Totals& totals) {
    switch (end) {
    case TurnEnd::limit:
      wanted_ = uint32_t(resident_.size()) + 2; // it may be waiting for one that has not come yet
      resident_.push_back(std::move(place));
      return;
    case TurnEnd::finished:
      break;
    case TurnEnd::fault:
      result.status = Status::fault;
      result.fault = place.residence->group().fault;
      break;
    case TurnEnd::deadlock:
      result.status = Status::deadlock;
      result.fault = standing(plan_, *place.residence, "every wave waits");
      break;
    }
    totals.finish(*place.residence);
    if (place.tracer) tracers_.push_back(std::move(place.tracer));
    free_.push_back(std::move(place.residence));
    if (options_.progress && end == TurnEnd::finished) options_.progress(++finished_, count());
  }

  void finish_traces(RunResult& result) {
    for (Place& place : resident_)
      if (place.tracer) tracers_.push_back(std::move(place.tracer));
    std::ranges::sort(tracers_, {}, [](const auto& tracer) { return tracer->waves().front().workgroup; });
    TraceBuilder builder;
    for (auto& tracer : tracers_) builder.add(*tracer);
    result.trace = builder.take();
  }

  const LaunchPlan& plan_;
  Memory& memory_;
  const Scratch& scratch_;
  const RunOptions& options_;
  Limits limits_;
  uint32_t slots_;
  Executor executor_;
  std::deque<Place> resident_;
  std::vector<std::unique_ptr<Residence>> free_;
  std::vector<std::unique_ptr<Tracer>> tracers_;
  uint32_t wanted_ = 1, made_ = 0;
  uint64_t next_ = 0, finished_ = 0, since_clock_ = 0;
};

void fill_fidelity(const LaunchPlan& plan, const Totals& totals, RunResult& result) {
  result.instructions = totals.instructions;
  result.waves = totals.waves;
  result.fidelity.approximate = totals.approximate;
  result.fidelity.exact = totals.instructions - totals.approximate;
  auto& names = result.fidelity.approximate_mnemonics;
  for (size_t k = 0; k < totals.approximate_seen.size(); ++k)
    if (totals.approximate_seen[k]) names.emplace_back(isa::name_of(plan.image->instructions[k]));
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
}

} // namespace

Result<RunResult> run(const Image& image, const Dispatch& dispatch, Memory& memory, const RunOptions& options) {
  AE_TRY(const LaunchPlan plan, plan_launch(image, dispatch, memory));
  for (uint32_t id : options.traced)
    if (id >= plan.workgroups)
      return fail("{}: workgroup {} is to be traced, there are {}", image.object().path, id, plan.workgroups);
  const uint32_t slots = resident_limit(plan);
  AE_TRY(const Scratch scratch, Scratch::map(plan, memory, slots));
  RunResult result;
  Totals totals;
  try {
    SerialRun(plan, memory, scratch, options, slots).run(result, totals);
  } catch (const std::bad_alloc&) {
    return fail("{}: no host memory for {} bytes of registers a wave", image.object().path, plan.rows() * sizeof(Row));
  }
  fill_fidelity(plan, totals, result);
  return result;
}

} // namespace asmevo::machine
