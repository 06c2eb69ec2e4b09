// Waves that have read the same place, nothing ordering them.
//
// A writer races with each of them that does not come before it, so all must be remembered, whereas of several writes
// the last is enough: one that is not ordered behind the one before has been reported already. Places are many and sets
// few, because a tile that waves share is read by the same instructions all over. So a set is made once, gets the
// number of an event of nobody's, and its cells hold that number.
#pragma once

#include "machine/strict/order.h"

#include <algorithm>
#include <span>

namespace asmevo::machine::strict {

/// Sets of cells, by number. Cells are as shadow.h has them, of single events.
class ReaderSets {
public:
  using Readers = std::vector<uint32_t>;

  /// The set's cell; `make(index)` gives a new one, whose event leads to `index`.
  template <class Make> uint32_t cell_of(const Readers& readers, Make make) {
    if (2 * sets_.size() >= slots_.size()) grow();
    size_t slot = slot_of(readers);
    for (; slots_[slot]; slot = (slot + 1) % slots_.size())
      if (std::ranges::equal((*this)[slots_[slot] - 1], readers)) return sets_[slots_[slot] - 1].cell;
    const uint32_t index = uint32_t(sets_.size());
    slots_[slot] = index + 1;
    sets_.push_back({make(index), uint32_t(members_.size()), uint32_t(readers.size())});
    members_.insert(members_.end(), readers.begin(), readers.end());
    return sets_.back().cell;
  }
  std::span<const uint32_t> operator[](uint32_t index) const {
    return std::span(members_).subspan(sets_[index].first, sets_[index].count);
  }
  bool full() const { return members_.size() > max_members; }
  /// Forgets sets whose cells nobody will ask about.
  void clear() {
    if (sets_.empty()) return;
    members_.clear();
    sets_.clear();
    slots_.assign(first_slots, 0);
  }

private:
  static constexpr size_t max_members = size_t{1} << 22, first_slots = 64;
  struct Set {
    uint32_t cell, first, count;
  };

  size_t slot_of(std::span<const uint32_t> readers) const {
    uint64_t hash = readers.size();
    for (const uint32_t reader : readers) hash = (hash ^ reader) * 0x9e3779b97f4a7c15;
    return size_t(hash >> 32) % slots_.size();
  }
  void grow() {
    slots_.assign(2 * slots_.size(), 0);
    for (uint32_t index = 0; index < sets_.size(); ++index) {
      size_t slot = slot_of((*this)[index]);
      while (slots_[slot]) slot = (slot + 1) % slots_.size();
      slots_[slot] = index + 1;
    }
  }

  std::vector<uint32_t> members_;
  std::vector<Set> sets_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(first_slots); // set + 1; linear probing
};

/// The most waves that are remembered of a place; more than a workgroup has.
inline constexpr size_t max_readers = 256;

/// The event of a set.
inline Event event_of_set(uint32_t index) { return {.serial = 0, .instruction = index}; }
inline bool is_set(const Event& event) { return event.serial == 0; }

} // namespace asmevo::machine::strict
