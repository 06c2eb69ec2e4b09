// Tags of a set-associative cache with LRU replacement, and when each line's data arrives.
//
// The timed simulation asks "is this line here, and from when on?" several times for every memory instruction, so a
// look-up must not search 64 ways. Lines are found through an open hash table and every set is a doubly linked list in
// order of use; a set here is whatever number of lines compete for the same places.
#pragma once

#include <cstdint>
#include <vector>

namespace asmevo::timing {

class Cache {
public:
  /// `sets` is rounded down to a power of two; at least one line a set.
  Cache(uint32_t lines, uint32_t sets);

  /// The clock from which the line's data is there, or null where the line is not cached. Makes it the most recent.
  int64_t* find(uint64_t line);
  /// Adds a line that find() did not find, in the place of the least recent of its set. True where one was replaced.
  bool insert(uint64_t line, int64_t ready);
  void erase(uint64_t line);
  void clear();

private:
  struct Entry {
    uint64_t line = 0;
    int64_t ready = 0;
    uint32_t before = 0, after = 0; // neighbours in order of use, entry indices
    uint32_t chain = none;          // next entry of the same hash bucket
    bool used = false;
  };
  static constexpr uint32_t none = 0xffffffff;

  uint32_t set_of(uint64_t line) const;
  uint32_t bucket_of(uint64_t line) const;
  void unchain(uint32_t entry);
  void touch(uint32_t set, uint32_t entry);

  uint32_t ways_, set_mask_;
  std::vector<Entry> entries_;    // set * ways + way; the list of a set is circular
  std::vector<uint32_t> recent_;  // of a set: most recently used entry
  std::vector<uint32_t> buckets_; // hash table
};

} // namespace asmevo::timing
