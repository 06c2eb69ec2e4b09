// Running a dispatch: which workgroups are on the device, for how long each goes on, and when the whole has ended.
//
// Workgroups come on in order of their linear id, and those that are there take turns. A kernel whose workgroups cannot
// communicate would run each to its end before the next comes: that is the fastest and needs the least memory. One that
// spins on what another workgroup writes needs the others to get on. So turns are short and many workgroups are
// resident where the instruction stream has global atomics, scalar stores or sleeps (may_communicate), and long with
// one resident where it has not; but even then a workgroup that does not end within its turn lets the next one on, so
// that a spin on plain loads makes progress too. All of this is counted in instructions: the order is the same on every
// machine.
#include "machine/scheduler.h"

#include "isa/fields.h"

#include <deque>

namespace asmevo::machine {

bool may_communicate(const isa::Instruction& i) {
  if (i.traits.atomic && !(i.traits.lds && !i.traits.vmem)) return true;
  if (i.traits.smem && i.traits.may_store) return true;
  if (i.encoding == isa::Encoding::ds && isa::fields::ds(i.words).gds) return true;
  return isa::name_of(i) == "s_sleep";
}

namespace {

constexpr uint64_t short_turn = 512, long_turn = uint64_t{1} << 22;

/// Runs workgroups one after the other, or several in turns, on this thread.
class SerialRun {
public:
  SerialRun(const Selection& selection, Memory& memory, const Scratch& scratch, uint32_t slots)
      : selection_(selection), plan_(selection.plan), memory_(memory), scratch_(scratch), options_(selection.options),
        limits_(selection.options), slots_(slots) {}

  void run(RunResult& result, Totals& totals) {
    while (result.status == Status::completed && (admit() || !resident_.empty())) take_turn(result, totals);
    for (auto& place : resident_) totals.see(place.residence->approximate_seen());
    for (auto& residence : free_) totals.see(residence->approximate_seen());
    finish_traces(result);
  }

private:
  /// Lets the next workgroup on, if there is one and there is room; short turns fill the device at once.
  bool admit() {
    const uint32_t wanted = plan_.image->communicates ? slots_ : std::min(slots_, wanted_);
    bool any = false;
    while (resident_.size() < wanted && next_ < selection_.count()) {
      Place place;
      if (free_.empty()) {
        place.residence = std::make_unique<Residence>(plan_, memory_, scratch_, made_++);
      } else {
        place.residence = std::move(free_.back());
        free_.pop_back();
      }
      const uint32_t id = selection_.workgroup(next_++);
      if (selection_.traced(id)) place.tracer = std::make_unique<Tracer>(id, plan_.max_waves);
      place.residence->begin(id, place.tracer.get());
      place.watcher = selection_.watching.of(place.residence->group());
      place.residence->watch(place.watcher.get());
      place.executor = executor_of(options_, id);
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
        give_up(Status::budget, *place.residence,
                fmt::format("{} instructions executed, the budget is spent", totals.instructions), result);
        break;
      }
      turn = place.executor->run(*place.residence, allowance);
      totals.instructions += turn.instructions;
      since_clock_ += turn.instructions;
      if (since_clock_ < clock_interval) continue;
      since_clock_ = 0;
      if (auto status = limits_.expired()) {
        give_up(*status, *place.residence, *status == Status::stopped ? "stopped" : "the wall-clock budget is spent",
                result);
        break;
      }
    }
    conclude(turn.end, std::move(place), result, totals);
  }

  void give_up(Status status, Residence& residence, std::string_view message, RunResult& result) {
    result.status = status;
    take_standing(plan_, residence, message, result);
    for (Place& other : resident_) take_standing(plan_, *other.residence, message, result);
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
      give_up(Status::deadlock, *place.residence, "every wave waits", result);
      break;
    }
    totals.finish(*place.residence);
    if (place.tracer) tracers_.push_back(std::move(place.tracer));
    free_.push_back(std::move(place.residence));
    if (options_.progress && end == TurnEnd::finished) options_.progress(++finished_, selection_.count());
  }

  void finish_traces(RunResult& result) {
    for (Place& place : resident_)
      if (place.tracer) tracers_.push_back(std::move(place.tracer));
    result.trace = merge_traces(std::move(tracers_));
  }

  const Selection& selection_;
  const LaunchPlan& plan_;
  Memory& memory_;
  const Scratch& scratch_;
  const RunOptions& options_;
  Limits limits_;
  uint32_t slots_;
  std::deque<Place> resident_;
  std::vector<std::unique_ptr<Residence>> free_;
  std::vector<std::unique_ptr<Tracer>> tracers_;
  uint32_t wanted_ = 1, made_ = 0;
  uint64_t next_ = 0, finished_ = 0, since_clock_ = 0;
};

} // namespace

namespace {

constexpr size_t max_standing = 64;

Standing standing_of(const Image::Impl& image, const Wave& w) {
  Standing s{.workgroup = w.workgroup->id, .wave = w.id, .executed = w.executed};
  const bool waits = w.events & (event::barrier | event::halted);
  if (w.events & event::barrier) s.waits_for = "a barrier";
  if (w.events & event::halted) s.waits_for = "nobody: it is halted";
  const uint32_t index = w.next->index - waits; // it stands at what it waits in, not behind it
  if (index >= image.instructions.size()) return s;
  s.instruction = index;
  s.address = image.instructions[index].address;
  return s;
}

} // namespace

void take_standing(const LaunchPlan& plan, Residence& residence, std::string_view message, RunResult& result) {
  const size_t first = result.standing.size();
  for (const Wave& w : residence.waves())
    if (!(w.events & event::ended) && result.standing.size() < max_standing)
      result.standing.push_back(standing_of(*plan.image, w));
  if (result.fault || first == result.standing.size()) return;
  const Standing& stands = result.standing[first];
  result.fault = Fault{.address = stands.address,
                       .instruction = stands.instruction,
                       .workgroup = stands.workgroup,
                       .wave = stands.wave,
                       .message = std::string(message)};
  for (const Standing& s : std::span(result.standing).subspan(first))
    result.fault->message += fmt::format("{} wave {} at {:#x}{}", &s == &stands ? ";" : ",", s.wave, s.address,
                                         s.waits_for.empty() ? "" : fmt::format(" waits for {}", s.waits_for));
}

Trace merge_traces(std::vector<std::unique_ptr<Tracer>> tracers) {
  std::ranges::sort(tracers, {}, [](const auto& tracer) { return tracer->waves().front().workgroup; });
  TraceBuilder builder;
  for (auto& tracer : tracers) builder.add(*tracer);
  return builder.take();
}

void run_serial(const Selection& selection, Memory& memory, const Scratch& scratch, uint32_t slots, RunResult& result,
                Totals& totals) {
  SerialRun(selection, memory, scratch, slots).run(result, totals);
}

} // namespace asmevo::machine
