#include "machine/execute.h"

#include "machine/modal.h"
#include "machine/tracer.h"
#include "machine/watcher.h"

#include <bit>

namespace asmevo::machine {

namespace {

// Real kernels depend on waves progressing at a similar pace; few instructions a turn keep them together.
constexpr uint32_t round_robin_quantum = 8, random_quantum = 16, long_quantum = 1 << 16;

// The inner loop of the machine.
uint32_t run_plain(Wave& w, uint32_t quantum) {
  uint32_t left = quantum;
  do {
    const Op& op = *w.next++;
    op.run(w, op);
    --left;
  } while (left && !w.events);
  return quantum - left;
}

uint32_t run_modal(Wave& w, uint32_t quantum) {
  uint32_t left = quantum;
  do {
    step_modal(w);
    --left;
  } while (left && w.events == event::modal);
  return quantum - left;
}

uint32_t run_traced(Wave& w, uint32_t quantum, Tracer& tracer) {
  const uint32_t count = uint32_t(w.workgroup->image->instructions.size());
  uint32_t left = quantum;
  do {
    if (w.next->index < count) tracer.issue(w, w.next->index);
    if (w.events & event::modal)
      step_modal(w);
    else
      run_plain(w, 1);
    --left;
  } while (left && !(w.events & ~event::modal));
  return quantum - left;
}

/// Waves that can run, one bit each.
uint32_t ready_waves(std::span<const Wave> waves) {
  constexpr uint32_t waiting = event::ended | event::barrier | event::halted;
  uint32_t ready = 0;
  for (const Wave& w : waves) ready |= uint32_t(!(w.events & waiting)) << w.id;
  return ready;
}

/// Lets all waves pass the barrier when everyone who has not ended is there.
bool release_barrier(Workgroup& group, std::span<Wave> waves) {
  if (group.at_barrier == 0 || group.at_barrier + group.ended < group.wave_count) return false;
  for (Wave& w : waves) w.events &= ~event::barrier;
  group.at_barrier = 0;
  return true;
}

} // namespace

uint32_t Executor::quantum() {
  switch (schedule_) {
  case Schedule::round_robin:
  case Schedule::late_loads:
    return round_robin_quantum;
  case Schedule::run_to_barrier:
    return long_quantum;
  case Schedule::seeded_random:
    return 1 + uint32_t(random_() % random_quantum);
  }
  return round_robin_quantum;
}

uint32_t Executor::run_wave(Wave& w, uint32_t quantum, Tracer* tracer) {
  uint32_t done = w.workgroup->watcher      ? w.workgroup->watcher->run(w, quantum)
                  : tracer                  ? run_traced(w, quantum, *tracer)
                  : w.events & event::modal ? run_modal(w, quantum)
                                            : run_plain(w, quantum);
  w.executed += done;
  w.events &= ~event::yield;
  return done;
}

Turn Executor::run(Residence& residence, uint64_t limit) {
  Workgroup& group = residence.group();
  const std::span<Wave> waves = residence.waves();
  Turn turn;
  uint32_t ready = ready_waves(waves);
  while (turn.instructions < limit) {
    if (ready == 0) {
      if (group.ended == group.wave_count) return turn.end = TurnEnd::finished, turn;
      if (!release_barrier(group, waves)) return turn.end = TurnEnd::deadlock, turn;
      ready = ready_waves(waves);
    }
    for (uint32_t left = ready; left; left &= left - 1) {
      Wave& w = waves[schedule_ == Schedule::seeded_random ? pick(ready) : uint32_t(std::countr_zero(left))];
      turn.instructions += run_wave(w, quantum(), group.tracer);
      if (!(w.events & ~event::modal)) continue;
      if (w.events & event::fault) return turn.end = TurnEnd::fault, turn;
      ready &= ~(1u << w.id);
      if (w.events & event::ended)
        ++group.ended;
      else if (w.events & event::barrier)
        ++group.at_barrier;
      if (schedule_ == Schedule::seeded_random) break;
    }
  }
  return turn;
}

/// A random one of the set bits.
uint32_t Executor::pick(uint32_t ready) {
  for (uint32_t skip = uint32_t(random_() % uint32_t(std::popcount(ready))); skip; --skip) ready &= ready - 1;
  return uint32_t(std::countr_zero(ready));
}

} // namespace asmevo::machine
