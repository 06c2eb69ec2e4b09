// LRU sets over an open hash table.
#include "timing/cache.h"

#include <algorithm>
#include <bit>

namespace asmevo::timing {

Cache::Cache(uint32_t lines, uint32_t sets) {
  sets = std::bit_floor(std::max(1u, std::min(sets, lines)));
  ways_ = std::max(1u, lines / sets);
  set_mask_ = sets - 1;
  entries_.resize(size_t{ways_} * sets);
  recent_.resize(sets);
  buckets_.resize(std::bit_ceil(size_t{2} * ways_ * sets));
  clear();
}

void Cache::clear() {
  std::ranges::fill(buckets_, none);
  for (uint32_t set = 0; set <= set_mask_; ++set) {
    recent_[set] = set * ways_;
    for (uint32_t way = 0; way < ways_; ++way) {
      Entry& e = entries_[set * ways_ + way];
      e = {};
      e.before = set * ways_ + (way + ways_ - 1) % ways_;
      e.after = set * ways_ + (way + 1) % ways_;
    }
  }
}

uint32_t Cache::bucket_of(uint64_t line) const {
  return static_cast<uint32_t>((line * 0x9e3779b97f4a7c15) >> 32) & static_cast<uint32_t>(buckets_.size() - 1);
}

// Upper address bits are folded in, as caches do, so that a large power-of-two stride does not meet in one set.
uint32_t Cache::set_of(uint64_t line) const {
  const uint64_t folded = line ^ line >> 7 ^ line >> 14 ^ line >> 23;
  return static_cast<uint32_t>(folded) & set_mask_;
}

void Cache::unchain(uint32_t entry) {
  uint32_t* link = &buckets_[bucket_of(entries_[entry].line)];
  while (*link != entry) link = &entries_[*link].chain;
  *link = entries_[entry].chain;
}

// `after` of the most recent entry is the next most recent; `before` of it is the least recent.
void Cache::touch(uint32_t set, uint32_t entry) {
  const uint32_t head = recent_[set];
  if (head == entry) return;
  Entry& e = entries_[entry];
  if (entries_[head].before != entry) {
    entries_[e.before].after = e.after;
    entries_[e.after].before = e.before;
    const uint32_t tail = entries_[head].before;
    e.before = tail;
    e.after = head;
    entries_[tail].after = entry;
    entries_[head].before = entry;
  }
  recent_[set] = entry;
}

int64_t* Cache::find(uint64_t line) {
  for (uint32_t i = buckets_[bucket_of(line)]; i != none; i = entries_[i].chain)
    if (entries_[i].line == line) {
      touch(set_of(line), i);
      return &entries_[i].ready;
    }
  return nullptr;
}

bool Cache::insert(uint64_t line, int64_t ready) {
  const uint32_t set = set_of(line);
  const uint32_t victim = entries_[recent_[set]].before;
  Entry& e = entries_[victim];
  const bool replaced = e.used;
  if (replaced) unchain(victim);
  e.line = line;
  e.ready = ready;
  e.used = true;
  uint32_t& bucket = buckets_[bucket_of(line)];
  e.chain = bucket;
  bucket = victim;
  touch(set, victim);
  return replaced;
}

void Cache::erase(uint64_t line) {
  if (!find(line)) return;
  const uint32_t set = set_of(line);
  const uint32_t entry = recent_[set]; // find() put it there
  unchain(entry);
  entries_[entry].used = false;
  recent_[set] = entries_[entry].after; // the freed entry becomes the least recent
}

} // namespace asmevo::timing
