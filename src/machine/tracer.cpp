#include "machine/tracer.h"

#include <bit>

namespace asmevo::machine {

namespace {

bool same(const AccessPattern& a, const AccessPattern& b) {
  return a.space == b.space && a.write == b.write && a.bytes == b.bytes && a.next == b.next && a.offset == b.offset;
}

uint64_t hash_of(const AccessPattern& p) {
  uint64_t hash = uint64_t(p.space) | uint64_t{p.write} << 8 | uint64_t{p.bytes} << 16 | uint64_t{p.next} << 32;
  for (uint32_t offset : p.offset) hash = (std::rotl(hash, 5) ^ offset) * 0x9e3779b97f4a7c15;
  return hash;
}

uint32_t intern_in(std::vector<AccessPattern>& patterns, std::unordered_multimap<uint64_t, uint32_t>& by_hash,
                   const AccessPattern& pattern) {
  const uint64_t hash = hash_of(pattern);
  auto [first, last] = by_hash.equal_range(hash);
  for (; first != last; ++first)
    if (same(patterns[first->second], pattern)) return first->second;
  const auto id = uint32_t(patterns.size());
  patterns.push_back(pattern);
  by_hash.emplace(hash, id);
  return id;
}

} // namespace

Tracer::Tracer(uint32_t workgroup, uint32_t waves) {
  for (uint32_t wave = 0; wave < waves; ++wave) waves_.push_back({.workgroup = workgroup, .wave = wave});
}

void Tracer::issue(const Wave& w, uint32_t instruction) {
  WaveTrace& trace = waves_[w.id];
  trace.events.push_back({.instruction = instruction});
  trace.active_lanes.push_back(uint8_t(std::popcount(w.exec())));
}

uint32_t Tracer::intern(const AccessPattern& pattern) { return intern_in(patterns_, by_hash_, pattern); }

void Tracer::access(const Wave& w, Space space, bool write, uint32_t bytes, const uint64_t addresses[lanes],
                    uint64_t mask) {
  AccessPattern pattern{.space = space, .write = write, .bytes = bytes};
  uint64_t base = ~uint64_t{0};
  for (unsigned i = 0; i < lanes; ++i)
    if (mask >> i & 1) base = std::min(base, addresses[i]);
  if (mask == 0) base = 0;
  if (space == Space::lds) base = 0;
  if (space == Space::global) base &= ~uint64_t{255};
  for (unsigned i = 0; i < lanes; ++i)
    pattern.offset[i] = mask >> i & 1 ? uint32_t(addresses[i] - base) : inactive_lane;
  TraceEvent& event = waves_[w.id].events.back();
  if (event.pattern == no_pattern) {
    event.base = base;
    event.pattern = intern(pattern);
    return;
  }
  // A second address: the pattern that is already there comes first.
  AccessPattern first = patterns_[event.pattern];
  first.next = intern(pattern);
  event.pattern = intern(first);
}

void TraceBuilder::add(Tracer& tracer) {
  // A pattern's `next` is always interned before it, so ids translate in one pass.
  std::vector<uint32_t> translated;
  for (AccessPattern pattern : tracer.patterns()) {
    if (pattern.next != no_pattern) pattern.next = translated[pattern.next];
    translated.push_back(intern_in(trace_.patterns, by_hash_, pattern));
  }
  for (WaveTrace& wave : tracer.waves()) {
    if (wave.events.empty()) continue; // a short workgroup has fewer waves
    for (TraceEvent& event : wave.events)
      if (event.pattern != no_pattern) event.pattern = translated[event.pattern];
    trace_.waves.push_back(std::move(wave));
  }
}

} // namespace asmevo::machine
