// Tracer: records what one workgroup does (trace.h), while it runs.
#pragma once

#include "machine/op.h"
#include "machine/trace.h"

#include <unordered_map>

namespace asmevo::machine {

class Tracer {
public:
  Tracer(uint32_t workgroup, uint32_t waves);

  /// A wave is about to execute an instruction.
  void issue(const Wave& w, uint32_t instruction);
  /// The instruction just issued accesses memory in the lanes of `mask`. Called twice for two addresses.
  void access(const Wave& w, Space space, bool write, uint32_t bytes, const uint64_t addresses[lanes], uint64_t mask);

  std::vector<AccessPattern>& patterns() { return patterns_; }
  std::vector<WaveTrace>& waves() { return waves_; }

private:
  uint32_t intern(const AccessPattern& pattern);

  std::vector<AccessPattern> patterns_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
  std::vector<WaveTrace> waves_;
};

/// Adds a workgroup's record to a whole trace, whose patterns stay unique.
class TraceBuilder {
public:
  void add(Tracer& tracer);
  Trace take() { return std::move(trace_); }

private:
  Trace trace_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
};

} // namespace asmevo::machine
