// Where the time of a kernel goes, instruction by instruction, wherever that was learned.
//
// A profile comes from the timing model, from samples of a program counter, or from a thread trace. They do not measure
// the same thing, but they ask the same questions: which instruction, how often, and what was it waiting for. So there
// is one structure, keyed by the address of the instruction in the code object, and everything that reads profiles
// (windows, reports, the search) reads only this.
//
// Two books (timing/ledger.h says why). All sources know what waves did: samples and traces look at waves. Only the
// timing model also knows which of these stalls the SIMDs could not hide; where that is known, it is what instructions
// are ranked by.
#pragma once

#include "isa/resources.h"
#include "timing/timing.h"

#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace asmevo::profile {

/// Why a wave does not issue. The model's reasons, and what hardware tells less precisely.
enum class Reason : uint8_t {
  dependency,
  vmcnt,
  lgkmcnt,
  expcnt,
  wait, // a counter, it is not known which
  pipe_busy,
  lds_conflict,
  memory_throughput,
  barrier,
  fetch,
  not_selected,
  internal, // an instruction that the instruction buffer handles itself
  sleep,
  other,
  unknown, // the source gives no reasons
  count_
};
inline constexpr size_t reason_count = size_t(Reason::count_);
std::string_view reason_name(Reason);
Reason reason_of(timing::Stall);

using Stalls = std::array<double, reason_count>;
inline double sum(const Stalls& stalls) { return std::accumulate(stalls.begin(), stalls.end(), 0.0); }
void add(Stalls& to, const Stalls& more);
/// The largest; count_ where all are 0.
Reason largest(const Stalls& stalls);

/// One instruction. Amounts are in Profile::unit.
struct Row {
  uint64_t address = 0;
  double issues = 0; // executions by waves; 0 where the source does not count them
  double issue = 0;  // waves: issuing it
  Stalls stalls{};   // waves: standing at it
  double busy = 0;   // SIMDs: turns in which it issued
  Stalls exposed{};  // SIMDs: no wave ready, the next one to issue stood at it
};

/// Waits of `consumer` for the result of `producer`.
struct Edge {
  uint64_t producer = 0, consumer = 0; // addresses
  Reason reason = Reason::dependency;
  double stall = 0;   // of waves
  double exposed = 0; // of SIMDs
};

/// What the timing model says of the kernel as a whole.
struct Speed {
  double seconds = 0, cv = 0;
  double kernel_cycles = 0, simulated_cycles = 0, extrapolated_cycles = 0;
  double dispatch = 0, drain = 0; // of SIMDs, beside the rows
  std::string bound;
  std::vector<timing::Load> loads; // the busiest first
  isa::Occupancy occupancy;
};

/// A hardware counter of the whole kernel.
struct Counter {
  std::string name;
  double value = 0; // mean over `dispatches`
  uint64_t dispatches = 0;
};

struct Profile {
  std::string source;    // "simulated MI300X", "rocprofv3 PC samples"
  std::string unit;      // "clk", "samples"
  std::string kernel;    // may be empty
  bool exposure = false; // the SIMDs' book is there
  std::vector<Row> rows; // by address
  std::vector<Edge> edges;
  std::optional<Speed> speed;
  std::vector<Counter> counters;
  std::vector<std::string> notes; // what was left out, and what the source does not say

  const Row* at(uint64_t address) const;
  /// What the instruction issued and cost, in the book that counts.
  double issuing(const Row& row) const { return exposure ? row.busy : row.issue; }
  const Stalls& costs(const Row& row) const { return exposure ? row.exposed : row.stalls; }
  double cost(const Row& row) const { return issuing(row) + sum(costs(row)); }
  double total() const;
};

/// The profile of an estimate with attribution; `code` is what it indexes.
Profile from_estimate(const timing::Estimate& estimate, std::span<const isa::Instruction> code, std::string source);

} // namespace asmevo::profile
