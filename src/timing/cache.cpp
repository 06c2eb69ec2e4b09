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
  recent_.resize(size_t{2} * sets);
  buckets_.resize(std::bit_ceil(size_t{2} * ways_ * sets));
  clear();
}

void Cache::clear() {
  std::ranges::fill(buckets_, none);
  for (uint32_t set = 0; set <= set_mask_; ++set) {
    recent(set, Use::kept) = set * ways_;
    recent(set, Use::streamed) = none;
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
void Cache::unlink(uint32_t set, uint32_t entry) {
  Entry& e = entries_[entry];
  uint32_t& head = recent(set, e.use);
  if (e.after == entry) {
    head = none;
    return;
  }
  entries_[e.before].after = e.after;
  entries_[e.after].before = e.before;
  if (head == entry) head = e.after;
}

void Cache::push(uint32_t set, uint32_t entry, Use use) {
  Entry& e = entries_[entry];
  e.use = use;
  uint32_t& head = recent(set, use);
  if (head == none) {
    e.before = e.after = entry;
  } else {
    const uint32_t tail = entries_[head].before;
    e.before = tail;
    e.after = head;
    entries_[tail].after = entry;
    entries_[head].before = entry;
  }
  head = entry;
}

void Cache::touch(uint32_t set, uint32_t entry, Use use) {
  if (recent(set, use) == entry) return;
  unlink(set, entry);
  push(set, entry, use);
}

Cache::Line* Cache::find(uint64_t line, Use use) {
  for (uint32_t i = buckets_[bucket_of(line)]; i != none; i = entries_[i].chain)
    if (entries_[i].line == line) {
      const bool streamed = use == Use::streamed && entries_[i].use == Use::streamed;
      touch(set_of(line), i, streamed ? Use::streamed : Use::kept);
      return &entries_[i].data;
    }
  return nullptr;
}

// A free place, the oldest streamed line that has arrived, the least recent line.
uint32_t Cache::victim_of(uint32_t set, int64_t now) {
  const uint32_t kept = recent(set, Use::kept), streamed = recent(set, Use::streamed);
  if (kept != none && !entries_[entries_[kept].before].used) return entries_[kept].before;
  if (streamed == none) return entries_[kept].before;
  const uint32_t oldest = entries_[streamed].before;
  return kept == none || entries_[oldest].data.ready <= now ? oldest : entries_[kept].before;
}

bool Cache::insert(uint64_t line, const Line& data, Use use, int64_t now) {
  const uint32_t set = set_of(line);
  const uint32_t victim = victim_of(set, now);
  Entry& e = entries_[victim];
  const bool replaced = e.used;
  if (replaced) unchain(victim);
  e.line = line;
  e.data = data;
  e.used = true;
  uint32_t& bucket = buckets_[bucket_of(line)];
  e.chain = bucket;
  bucket = victim;
  touch(set, victim, use);
  return replaced;
}

void Cache::erase(uint64_t line) {
  if (!find(line)) return;
  const uint32_t set = set_of(line);
  const uint32_t entry = recent(set, Use::kept); // find() put it there
  unchain(entry);
  entries_[entry].used = false;
  recent(set, Use::kept) = entries_[entry].after; // the freed entry becomes the least recent
}

} // namespace asmevo::timing
