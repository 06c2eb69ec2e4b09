// The way of a vector or scalar access from a compute unit to memory and back, in time.
//
//   address unit ─ L1 tags ─ (per-CU port) ─ L2 of the XCD ─ memory-side cache ─ HBM
//
// One compute unit is simulated; the others are present as shares. L1 and the scalar cache are this CU's own and kept
// as tags. L2 is kept as the tags this CU would leave in its share of it: a line that n CUs of the XCD use counts 1/n
// of a line against everybody's share. Ports and bandwidths are servers: a request waits until the server is free,
// holds it for bytes/rate, and comes back a latency later, so a queue builds up exactly where demand exceeds the share.
//
// Launches are repeated, so L2 and the memory-side cache start with what fits of the launch before (hardware keeps both
// coherent, nothing is dropped between kernels). Scalar loads are the exception: most read kernel arguments, which the
// host has just written.
//
// The first user of a line on the XCD (its leader, one in n by a hash of the line) fetches it from memory; the others
// find it in L2. Which of memory-side cache and HBM answers is likewise decided per line, by how much of the kernel's
// footprint the cache can hold from the launch before.
#pragma once

#include "timing/cache.h"
#include "timing/cache_policy.h"
#include "timing/device_table.h"
#include "timing/patterns.h"

namespace asmevo::timing {

/// What the rest of the device means for one CU's memory requests.
struct Surroundings {
  uint32_t active_cus = 1; // with work at the same time, device
  uint32_t active_cus_per_xcd = 1;
  double l2_warm = 0;          // share of vector lines that the launch before left in L2
  double l2_warm_streamed = 0; // the same of lines that only streamed accesses use
  double mall_hit = 1;         // share of lines beyond L2 that the memory-side cache answers
  double l2_share_scale = 1;   // average number of CUs of an XCD that use a line
};

/// How many CUs use the lines of an access: on its XCD and over the device.
struct Sharing {
  float xcd = 1, device = 1;
};

/// When an access is done, and how long of that it stood in queues (bandwidth, not latency).
struct Completion {
  int64_t done = 0;
  int64_t queued = 0;
};

/// Bytes and requests that passed, for bounds and rooflines.
struct MemoryTraffic {
  double l1_bytes = 0, l2_bytes = 0, memory_bytes = 0, hbm_bytes = 0;
  double l1_busy = 0, l2_busy = 0, memory_busy = 0; // clocks
};

/// What became of the lines that an instruction touched: how many were found in a cache by the next access to them.
/// Those that other CUs of the XCD use at the same time count as found in L2 by as many of them as do.
struct LineUse {
  double lines = 0, reused_in_l1 = 0, reused_in_l2 = 0;
};

class MemoryPath {
public:
  MemoryPath(const DeviceTable& device, const Values& values, const Surroundings& surroundings);

  struct Request {
    uint64_t base = 0; // multiple of 128
    const PatternCost* cost = nullptr;
    std::span<const LineTouch> lines;
    Sharing sharing;
    bool store = false, atomic = false, returns = false;
    CachePolicy policy;
    uint32_t instruction = 0;
  };

  /// Counts from now on what becomes of the lines of each instruction.
  void count_uses(size_t instructions) { uses_.resize(instructions); }
  const std::vector<LineUse>& uses() const { return uses_; }

  /// Whether the address unit takes one more instruction at `now`; if not, the clock at which it will.
  int64_t accepts_from(int64_t now) const;
  Completion vector(const Request& request, int64_t now);
  Completion scalar(uint64_t address, Sharing sharing, int64_t now);

  const MemoryTraffic& traffic() const { return traffic_; }

private:
  struct Answer {
    double done, queued;
  };
  struct Visitor { // of L2
    Sharing sharing;
    bool write = false;
    double warm = 0;
    Cache::Use use = Cache::Use::kept;
    uint32_t instruction = 0;
  };
  Answer beyond_l1(uint64_t line, double bytes, double now, const Visitor& visitor);
  void reuse(const Cache::Line& found, double LineUse::* cache) {
    if (!uses_.empty() && found.owner != nobody) uses_[found.owner].*cache += 1;
  }
  double from_memory(uint64_t line, Sharing sharing, double bytes, double now, double& queued);

  const Values& v_;
  Surroundings around_;
  Cache l1_, l2_, scalar_;
  double address_free_ = 0, l2_free_ = 0, memory_free_ = 0, scalar_free_ = 0;
  double l2_rate_;                            // bytes a clock, this CU's share
  double memory_rate_hbm_, memory_rate_mall_; // bytes a clock, this CU's share
  std::vector<int64_t> accepted_;             // ring: when the address unit is done with the last `vmem_queue`
  size_t oldest_ = 0;
  MemoryTraffic traffic_;
  static constexpr uint32_t nobody = 0xffffffff; // owner of lines of scalar loads
  std::vector<LineUse> uses_;                    // by instruction; empty where nobody asked
};

} // namespace asmevo::timing
