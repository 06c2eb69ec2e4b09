// Servers and tags between a compute unit and memory.
#include "timing/memory_path.h"

#include <algorithm>
#include <cmath>

namespace asmevo::timing {

static uint32_t l2_share_lines(const DeviceTable& d, const Surroundings& s) {
  const double lines = double(d.l2_bytes) / line_bytes;
  return std::max(64u, static_cast<uint32_t>(std::min(lines, lines * s.l2_share_scale / s.active_cus_per_xcd)));
}

// Uniform in [0, 1) by line, the same in every draw and for every program.
static double fate(uint64_t line, uint64_t salt) {
  uint64_t x = (line + salt) * 0x9e3779b97f4a7c15;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  return double(x >> 11) * 0x1p-53;
}

MemoryPath::MemoryPath(const DeviceTable& d, const Values& v, const Surroundings& s)
    : v_(v), around_(s), l1_(d.l1_bytes / line_bytes, 1), l2_(l2_share_lines(d, s), l2_share_lines(d, s) / d.l2_ways),
      scalar_(d.scalar_cache_bytes / 64, 64),
      accepted_(static_cast<size_t>(std::max(1.0, std::round(v.vmem_queue))), 0) {
  l2_rate_ = std::min(v.l2_port_rate, v.l2_rate / s.active_cus_per_xcd);
  const double gb_per_clock = 1000.0 / v.clock; // bytes a clock of 1 GB/s
  memory_rate_hbm_ = std::min(v.cu_memory_rate, v.hbm_bandwidth * gb_per_clock / s.active_cus);
  memory_rate_mall_ = std::min(v.cu_memory_rate, v.mall_bandwidth * gb_per_clock / s.active_cus);
}

int64_t MemoryPath::accepts_from(int64_t now) const { return std::max(now, accepted_[oldest_]); }

double MemoryPath::from_memory(uint64_t line, Sharing sharing, double bytes, double now, double& queued) {
  // Another XCD that fetched the line first left it in the memory-side cache.
  const bool first_of_device = fate(line, 1) * std::max(1.0f, sharing.device / sharing.xcd) < 1;
  const bool hbm = first_of_device && fate(line, 2) >= around_.mall_hit;
  const double start = std::max(now, memory_free_);
  const double busy = bytes / (hbm ? memory_rate_hbm_ : memory_rate_mall_);
  memory_free_ = start + busy;
  queued += start - now;
  traffic_.memory_bytes += bytes;
  traffic_.memory_busy += busy;
  if (hbm) traffic_.hbm_bytes += bytes;
  return start + (hbm ? v_.hbm_latency : v_.mall_latency);
}

MemoryPath::Answer MemoryPath::beyond_l1(uint64_t line, double bytes, double now, const Visitor& visitor) {
  const auto& [sharing, write, warm, use, instruction] = visitor;
  const double start = std::max(now, l2_free_);
  const double busy = bytes / l2_rate_;
  l2_free_ = start + busy;
  traffic_.l2_bytes += bytes;
  traffic_.l2_busy += busy;
  double queued = start - now;
  const double hit = start + (write ? v_.store_latency : v_.l2_latency);
  if (Cache::Line* found = l2_.find(line, use)) {
    reuse(*found, &LineUse::reused_in_l2);
    found->owner = instruction;
    return {std::max(hit, double(found->ready)), queued};
  }
  double done = hit;
  const bool leader = (write || fate(line, 3) >= warm) && fate(line, 0) * std::max(1.0f, sharing.xcd) < 1;
  if (leader) {
    double memory_queue = 0;
    const double fetched = from_memory(line, sharing, write ? bytes : line_bytes, start, memory_queue);
    // A line written costs memory bandwidth once, when it leaves L2, at the kernel's end at the latest. The store waits
    // for the queue but not for memory.
    done = write ? hit + memory_queue : std::max(hit, fetched);
    queued += memory_queue;
  }
  if (instruction < uses_.size()) uses_[instruction].reused_in_l2 += 1 - 1 / std::max(1.0, double(sharing.xcd));
  l2_.insert(line, {static_cast<int64_t>(write ? start : done), instruction}, use, static_cast<int64_t>(start));
  return {done, queued};
}

Completion MemoryPath::vector(const Request& r, int64_t now) {
  const double start = std::max(double(now), address_free_);
  const double lanes = r.cost ? std::max(1u, r.cost->lanes) : 1;
  const double bytes = r.cost ? r.cost->bytes : 0;
  // L1 reads 64-byte halves and returns what the lanes asked for.
  const double data = std::max(bytes, r.cost ? 64.0 * r.cost->halves : 0) / v_.l1_rate;
  const double address = std::ceil(lanes / v_.address_rate);
  const double lookups = r.cost ? r.cost->bank_lines * v_.l1_line : 0;
  // A store sends addresses and data over the same port; a load's data returns on another.
  const double busy = std::max({r.store ? address + data : std::max(address, data), lookups, 1.0});
  address_free_ = start + busy;
  traffic_.l1_bytes += bytes;
  traffic_.l1_busy += busy;
  accepted_[oldest_] = static_cast<int64_t>(start + busy);
  oldest_ = oldest_ + 1 == accepted_.size() ? 0 : oldest_ + 1;

  double done = start + v_.l1_latency, queued = 0;
  double at = start;
  const double step = r.lines.empty() ? 0 : busy / double(r.lines.size());
  const uint64_t base_line = r.base / line_bytes;
  const Cache::Use l1_use = r.policy.streams_l1 ? Cache::Use::streamed : Cache::Use::kept;
  const Visitor visitor = {.sharing = r.sharing,
                           .write = r.store && !r.atomic,
                           .warm = r.policy.streams_l2 ? around_.l2_warm_streamed : around_.l2_warm,
                           .use = r.policy.streams_l2 ? Cache::Use::streamed : Cache::Use::kept,
                           .instruction = r.instruction};
  if (!uses_.empty()) uses_[r.instruction].lines += double(r.lines.size());
  for (const LineTouch& touch : r.lines) {
    const uint64_t line = base_line + touch.line;
    const double half_bytes = touch.halves == 3 ? 128 : 64;
    Answer answer{at + v_.l1_latency, 0};
    if (r.store || r.atomic) {
      l1_.erase(line);
      if (r.atomic) l2_free_ = std::max(l2_free_, at) + v_.atomic_line;
      answer = beyond_l1(line, half_bytes, at, visitor);
    } else if (r.policy.misses_l1) {
      l1_.erase(line);
      answer = beyond_l1(line, line_bytes, at, visitor);
    } else if (Cache::Line* found = l1_.find(line, l1_use)) {
      reuse(*found, &LineUse::reused_in_l1);
      found->owner = r.instruction;
      answer.done = std::max(answer.done, double(found->ready));
    } else {
      answer = beyond_l1(line, line_bytes, at, visitor);
      l1_.insert(line, {static_cast<int64_t>(answer.done), r.instruction}, l1_use, static_cast<int64_t>(at));
    }
    if (answer.done > done) done = answer.done, queued = answer.queued;
    at += step;
  }
  return {clocks(done), static_cast<int64_t>(start - double(now) + queued)};
}

Completion MemoryPath::scalar(uint64_t address, Sharing sharing, int64_t now) {
  const double start = std::max(double(now), scalar_free_);
  scalar_free_ = start + 4;
  const uint64_t line = address / 64;
  const double hit = start + v_.scalar_hit;
  if (const Cache::Line* found = scalar_.find(line))
    return {static_cast<int64_t>(std::max(hit, double(found->ready))), static_cast<int64_t>(start) - now};
  const Answer answer = beyond_l1(address / line_bytes, 64, start, {.sharing = sharing, .instruction = nobody});
  const double done = answer.done + v_.scalar_miss_extra;
  scalar_.insert(line, {static_cast<int64_t>(done), nobody});
  return {clocks(done), static_cast<int64_t>(answer.queued)};
}

} // namespace asmevo::timing
