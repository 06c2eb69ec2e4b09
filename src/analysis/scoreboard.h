// What may be in flight at one point of a program, by counter.
//
// For each register that an outstanding operation will write, and each kind of memory access, the board keeps an age:
// how many operations of the same counter, in order, were issued after it. A wait for n finishes everything of age n
// and above. Scalar loads finish in any order and FLAT may go either way, so they have no age and only a wait for 0
// finishes them; for the same reason they do not make others older. Where paths meet the younger age stands.
//
// Counting only what is in order is exact: if an LDS read were still outstanding, every later LDS operation would be
// too, whatever scalar loads do, so lgkmcnt(n) with n not above the age frees it.
#pragma once

#include "analysis/waits.h"

#include <algorithm>
#include <array>

namespace asmevo::analysis {

enum class Counter : uint8_t { vm, lgkm, exp };
inline constexpr size_t counters = 3;
inline constexpr std::array<uint8_t, counters> counter_maximum = {63, 15, 7};

/// Slots behind the registers: one a kind of access, then cache write-back.
inline constexpr size_t access_slot = register_bits, writeback_slot = access_slot + access_kinds,
                        board_slots = (writeback_slot + 1 + 15) / 16 * 16;

class Pending {
public:
  static constexpr uint8_t none = 0xff, unordered = 0;

  Pending() { ages_.fill(none); }

  bool waits_for(size_t slot) const { return ages_[slot] != none; }
  bool in_order(size_t slot) const { return ages_[slot] != none && ages_[slot] != unordered; }
  uint32_t cause(size_t slot) const { return causes_[slot]; }
  /// The weakest count that frees the slot.
  uint8_t count_for(size_t slot) const { return ages_[slot] == unordered ? 0 : ages_[slot] - 1; }
  /// Whether an access of that kind older than the last `count` may be outstanding.
  bool older_than(Access access, uint8_t count) const { return oldest_[static_cast<size_t>(access)] > count; }
  uint8_t outstanding() const { return outstanding_; }

  void issue(uint8_t count, bool ordered, uint8_t maximum) {
    outstanding_ = std::min<uint8_t>(outstanding_ + count, maximum);
    if (!ordered) return;
    // An age of maximum - 1 is as good as any above: no immediate waits for more.
    for (uint8_t& age : ages_) age = age >= 1 && age < maximum ? age + 1 : age;
    for (uint8_t& age : oldest_) age = age >= 1 && age < maximum ? age + 1 : age;
  }
  void mark(size_t slot, bool ordered, uint32_t cause) {
    ages_[slot] = ordered ? 1 : unordered;
    causes_[slot] = cause;
  }
  void mark_access(Access access, bool ordered, uint8_t maximum, uint32_t cause) {
    const auto kind = static_cast<size_t>(access);
    mark(access_slot + kind, ordered, cause);
    oldest_[kind] = ordered ? std::max<uint8_t>(oldest_[kind], 1) : maximum;
  }
  void wait(uint8_t count, uint8_t maximum) {
    if (count >= maximum) return;
    outstanding_ = std::min(outstanding_, count);
    const uint8_t keep = count; // ages are stored plus one: 1..count survive
    for (uint8_t& age : ages_) age = age > keep || (age == unordered && count == 0) ? none : age;
    for (uint8_t& age : oldest_) age = std::min(age, count);
  }
  /// Joins another path; says whether anything changed.
  bool join(const Pending& other) {
    bool changed = other.outstanding_ > outstanding_;
    outstanding_ = std::max(outstanding_, other.outstanding_);
    for (size_t k = 0; k < access_kinds; ++k) {
      changed |= other.oldest_[k] > oldest_[k];
      oldest_[k] = std::max(oldest_[k], other.oldest_[k]);
    }
    for (size_t s = 0; s < board_slots; ++s) {
      if (other.ages_[s] >= ages_[s]) continue;
      ages_[s] = other.ages_[s];
      causes_[s] = other.causes_[s];
      changed = true;
    }
    return changed;
  }

private:
  std::array<uint8_t, board_slots> ages_;      // none, unordered, or age + 1
  std::array<uint32_t, board_slots> causes_{}; // item that issued it
  std::array<uint8_t, access_kinds> oldest_{}; // 0 where none, or age + 1
  uint8_t outstanding_ = 0;                    // at most
};

struct Scoreboard {
  static constexpr uint32_t nowhere = 0xffffffff;

  std::array<Pending, counters> pending;
  uint32_t read_over_barrier = nowhere; // an LDS read that was outstanding at the last barrier

  Pending& operator[](Counter c) { return pending[static_cast<size_t>(c)]; }
  const Pending& operator[](Counter c) const { return pending[static_cast<size_t>(c)]; }

  void wait(const Wait& wait) {
    pending[0].wait(wait.vmcnt, counter_maximum[0]);
    pending[1].wait(wait.lgkmcnt, counter_maximum[1]);
    pending[2].wait(wait.expcnt, counter_maximum[2]);
  }
  bool join(const Scoreboard& other) {
    bool changed = false;
    for (size_t c = 0; c < counters; ++c) changed |= pending[c].join(other.pending[c]);
    if (read_over_barrier == nowhere && other.read_over_barrier != nowhere) {
      read_over_barrier = other.read_over_barrier;
      changed = true;
    }
    return changed;
  }
  /// Before a function that anyone may call: everything may be outstanding.
  void forget(uint32_t cause);
  /// The effect of an instruction, after any wait it needed.
  void issue(const isa::Instruction& instruction, const RegisterMap& registers, uint32_t item);
};

} // namespace asmevo::analysis
