// Shadow of a workgroup's LDS.
//
// A workgroup has sixteen waves at most, so that LDS, unlike memory, has room for what each of them has read: a row of
// cells a wave. A read then only writes its own row, and notes for the writers' sake that somebody has read: who was
// the latest, and whether there are others. Where all of that is from before the last barrier a writer need not look at
// the rows.
//
// Events are numbered in the order of their first access. A barrier makes all before it count no more, by raising the
// floor: what a cell holds below it comes before everything that happens now.
#pragma once

#include "machine/strict/order.h"
#include "machine/strict/shadow.h"

#include <algorithm>

namespace asmevo::machine::strict {

class LdsShadow {
public:
  /// LDS accesses in flight at a barrier: none, issued since the barrier before, or perhaps earlier.
  enum class Flight : uint8_t { none, recent, old };
  static constexpr size_t max_events = size_t{1} << 24; // between barriers each instruction of a wave is one

  LdsShadow(uint32_t bytes, unsigned shift, uint32_t waves);

  unsigned shift() const { return shift_; }
  /// Makes granules smaller.
  void split(unsigned shift);
  Noting noting(uint32_t number, uint32_t owner) const {
    return {.cells = cells_,
            .own_reads = reads(owner & ~load_to_lds_owner),
            .high = bytes_,
            .shift = shift_,
            .event = number << owner_bits | owner,
            .floor = floor_};
  }
  const Cells& cells() const { return cells_; }
  /// What a wave has read last, a cell a granule.
  uint32_t* reads(uint32_t wave) const { return cells_.latest + (1 + wave) * count_; }

  bool full() const { return base_ + events_.size() >= max_events; }
  uint32_t add(const Event& event) {
    events_.push_back(event);
    return uint32_t(base_ + events_.size() - 1);
  }
  /// Whether the event of this number may still matter.
  bool holds(uint32_t number) const { return number >= base_; }
  const Event& event(uint32_t number) const { return events_[number - base_]; }
  const Event& event_of(uint32_t cell) const { return event(cell >> owner_bits); }
  /// Whether a cell's event still matters.
  bool counts(uint32_t cell) const { return (cell & ~several_readers) >= floor_; }
  bool since_barrier(uint32_t number) const { return number >= epoch_start_; }
  /// The cell, or less to think about where a barrier has ordered its event before everything that happens now.
  uint32_t settled(uint32_t cell, const GroupOrder& order) const {
    if (!counts(cell)) return cell;
    const Event& event = event_of(cell);
    const bool past = event.epoch < order.epoch() && order.effective_epoch(event) < order.epoch();
    return past ? long_past << owner_bits : cell;
  }

  void arrive(Flight flight) { flight_ = std::max(flight_, flight); }
  void pass_barrier();

private:
  /// Numbers begin here; the one below stands for all that is over.
  static constexpr uint32_t first_event = 2, long_past = first_event - 1;

  uint32_t bytes_, waves_;
  unsigned shift_;
  size_t count_ = 0; // granules
  std::vector<uint32_t> memory_;
  Cells cells_;
  uint32_t floor_ = first_event << owner_bits;
  std::vector<Event> events_;
  uint32_t base_ = first_event; // the number of the first of them
  Flight flight_ = Flight::none;
  uint32_t epoch_start_ = first_event; // the first event behind the last barrier
};

} // namespace asmevo::machine::strict
