// What happens before what, among the waves of a dispatch.
//
// Two accesses of different waves are ordered if something between them makes the second wait for the first. In a
// workgroup that is s_barrier, for accesses that the wave has waited for: one that is still in flight when its wave
// arrives belongs to the time after the barrier. Between workgroups (and within one) it is a flag in memory: a wave
// that has waited for its stores writes it (a release), another reads it with an atomic or a coherent load and from
// then on knows what the first did (an acquire). Plain loads of another workgroup's data may still hit a stale cache
// line, so there the knowledge takes effect when the wave invalidates its cache (buffer_inv, buffer_wbinvl1).
//
// Time is counted in epochs: the barriers that a workgroup has passed.
#pragma once

#include "machine/in_flight.h"
#include "machine/workgroup.h"

#include <array>
#include <map>
#include <unordered_map>

namespace asmevo::machine::strict {

inline constexpr uint32_t max_waves = 16;

/// An instruction of a wave in one epoch that accessed memory.
struct Event {
  uint32_t serial = 0; // of the wave, among all of the run
  uint32_t instruction = 0;
  uint32_t epoch = 0;
  bool atomic = false;   // or coherent: meant to meet others
  bool small = false;    // at most 8 bytes, which can be a flag
  bool released = false; // nothing that the wave had stored was outstanding
  bool to_lds = false;   // what a load to LDS writes there
};

/// What a wave knows of others: how far they have got that came before it.
struct Clock {
  std::map<uint32_t, uint32_t> groups; // by workgroup: epochs before this one
  std::map<uint32_t, uint32_t> waves;  // by serial: epochs up to this one

  bool empty() const { return groups.empty() && waves.empty(); }
  void join(const Clock& other);
};

/// One workgroup's part in the order.
class GroupOrder {
public:
  GroupOrder(uint32_t workgroup, uint32_t first_serial) : workgroup_(workgroup), first_serial_(first_serial) {}

  uint32_t workgroup() const { return workgroup_; }
  uint32_t serial(uint32_t wave) const { return first_serial_ + wave; }
  uint32_t epoch() const { return epoch_; }

  /// A wave arrives at a barrier with these instructions in flight, one at least.
  void arrive(uint32_t wave, std::vector<uint32_t> in_flight);
  /// All are there and go on.
  void pass_barrier();
  /// The wave has invalidated its cache.
  void invalidate(uint32_t wave);

  /// The epoch that an access of a wave of this workgroup counts in: later than its own while it was in flight.
  uint32_t effective_epoch(const Event& event) const;
  /// Whether anything says more about this workgroup than its number of barriers.
  bool plain() const;

private:
  friend class Orders;
  struct Carried {
    uint32_t epoch; // in flight at the end of it
    std::vector<uint32_t> instructions;
  };

  uint32_t workgroup_, first_serial_, epoch_ = 0;
  std::array<std::vector<Carried>, max_waves> carried_; // in order of time
  bool carries_ = false;
  bool told_ = false;                        // some wave knows something of others beyond the barriers
  Clock known_;                              // by all waves
  std::array<Clock, max_waves> own_, stale_; // by one; stale: until its cache is invalidated
};

/// All workgroups that are on the device, and those that have left and may still matter.
class Orders {
public:
  std::shared_ptr<GroupOrder> enter(uint32_t workgroup, uint32_t waves);
  void leave(const std::shared_ptr<GroupOrder>& group);

  /// Workgroup and wave of a serial number.
  std::pair<uint32_t, uint32_t> wave_of(uint32_t serial) const { return waves_[serial]; }
  /// Whether `event` comes before what wave `wave` of `group` does now. `coherent`: the access goes past stale lines.
  bool ordered(const Event& event, const GroupOrder& group, uint32_t wave, bool coherent) const;
  /// The wave has read what `event` wrote to tell it.
  void acquire(const Event& event, GroupOrder& group, uint32_t wave);

private:
  const GroupOrder* find(uint32_t workgroup) const;

  std::vector<std::pair<uint32_t, uint32_t>> waves_{{0, 0}}; // serials begin at 1
  std::unordered_map<uint32_t, std::shared_ptr<GroupOrder>> groups_;
};

} // namespace asmevo::machine::strict
