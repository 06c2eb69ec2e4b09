// Tags of a set-associative cache with LRU replacement, and when each line's data arrives.
//
// Lines can be streamed: brought in by an access that says it will not come back (nt, slc). They are given up before
// any other line, the oldest first, but not while their data is on its way: an access a few clocks later still finds
// them. An access that is not streamed makes a line one like the others.
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

  /// What is kept of a line.
  struct Line {
    int64_t ready = 0;  // the clock from which its data is there
    uint32_t owner = 0; // who touched it last: the caller's business
  };
  /// How an access wants the line to be kept.
  enum class Use : uint8_t { kept, streamed };

  /// Null where the line is not cached. Makes it the most recent; a use that is `kept` holds on to a streamed one.
  Line* find(uint64_t line, Use use = Use::kept);
  /// Adds a line that find() did not find, at `now`, in the place of the line of its set that goes first. True where
  /// one was replaced.
  bool insert(uint64_t line, const Line& data, Use use = Use::kept, int64_t now = 0);
  void erase(uint64_t line);
  void clear();

private:
  struct Entry {
    uint64_t line = 0;
    Line data;
    uint32_t before = 0, after = 0; // neighbours in order of use, entry indices
    uint32_t chain = none;          // next entry of the same hash bucket
    bool used = false;
    Use use = Use::kept;
  };
  static constexpr uint32_t none = 0xffffffff;

  uint32_t set_of(uint64_t line) const;
  uint32_t bucket_of(uint64_t line) const;
  uint32_t& recent(uint32_t set, Use use) { return recent_[2 * set + uint32_t(use)]; }
  uint32_t victim_of(uint32_t set, int64_t now);
  void unchain(uint32_t entry);
  void unlink(uint32_t set, uint32_t entry);
  void push(uint32_t set, uint32_t entry, Use use);
  void touch(uint32_t set, uint32_t entry, Use use);

  uint32_t ways_, set_mask_;
  std::vector<Entry> entries_;    // set * ways + way; lists are circular
  std::vector<uint32_t> recent_;  // of a set, by use: most recently used entry; free ones are the least recent kept
  std::vector<uint32_t> buckets_; // hash table
};

} // namespace asmevo::timing
