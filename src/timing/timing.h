// The CDNA timing model: from the traces of sampled workgroups to a simulated time, with its uncertainty and where it
// went.
//
// Every number this module returns is simulated and says so at each place it is shown.
#pragma once

#include "isa/resources.h"
#include "machine/machine.h"

#include <memory>
#include <string>
#include <vector>

namespace asmevo::timing {

/// A model parameter: value, error bar (half width of a uniform draw, same unit) and where it comes from.
struct Parameter {
  double value = 0;
  double error = 0;
  const char* source = "";
};

class Rehearsal;                                                // timing/rehearsal.h
struct DeviceTable;                                             // timing/device_table.h
const DeviceTable& device_for(isa::Processor processor);        // the default part of a processor: MI300X for gfx942
Result<const DeviceTable*> device_named(std::string_view name); // "MI300X", "MI210", ...
std::string_view device_name(const DeviceTable&);               // "MI300X"

/// Linear ids of the workgroups to trace, sorted. All of them for small grids; otherwise a few that show how addresses
/// move with the workgroup id (neighbours along each dimension), what the borders do, and whether work changes along
/// the grid (positions spread over it). The rule is in docs/timing-model.md.
std::vector<uint32_t> sample_workgroups(std::array<uint32_t, 3> workgroups, const isa::Occupancy& occupancy,
                                        const DeviceTable& device);

/// How to execute a grid for its trace: only those workgroups, but all where they may wait for others. Kernels that
/// wait have grids of a few times what the device holds at once, at most: their authors had to think of deadlocks.
machine::RunOptions sampling(const machine::Image& image, std::array<uint32_t, 3> workgroups,
                             const isa::Occupancy& occupancy, const DeviceTable& device);

struct Work {
  const machine::Image* image = nullptr;
  const machine::Trace* trace = nullptr; // of sample_workgroups()
  isa::Resources resources;
  std::array<uint32_t, 3> workgroups{1, 1, 1};
  uint32_t workgroup_size = 64; // work-items
  uint32_t dynamic_lds = 0;
};

enum class Stall : uint8_t {
  dependency,
  vmcnt,
  lgkmcnt,
  expcnt,
  pipe_busy,
  lds_conflict,
  memory_throughput,
  barrier,
  fetch,
  not_selected,
  count_
};
std::string_view stall_name(Stall);

/// Per instruction of the image (same index), in shader clocks of the nominal draw on the simulated compute unit; all
/// amounts are whole numbers. Two books, each complete (ledger.h):
/// - waves: issue and stall cycles of all instructions add up to Estimate::wave_cycles, every clock that a wave was
///   resident;
/// - SIMDs: busy and exposed cycles of all instructions, with dispatch and drain, add up to four times
///   Estimate::simulated_cycles, every clock of the four SIMDs.
struct Attribution {
  uint64_t issues = 0;
  double issue_cycles = 0;
  std::array<double, size_t(Stall::count_)> stall_cycles{};
  double busy_cycles = 0;                                     // turns in which it issued
  std::array<double, size_t(Stall::count_)> exposed_cycles{}; // no wave ready; the one to issue next stood here
  // Cache lines that it asked for (vector memory), and of these how many were found in L1, or in L2, by the next access
  // to them. What it brings for nobody is streamed.
  double lines = 0, reused_in_l1 = 0, reused_in_l2 = 0;
};

/// Waits of `consumer` that end when `producer` (an instruction of the same wave) has its result.
struct Dependence {
  uint32_t producer = 0, consumer = 0; // indices
  Stall reason = Stall::dependency;
  double cycles = 0;  // of waves
  double exposed = 0; // of SIMDs
};

/// What one wave did in [begin, end): issue or wait, at an instruction.
struct Slice {
  uint64_t workgroup = 0;
  uint32_t wave = 0;           // in the workgroup
  uint32_t simd = 0, slot = 0; // where it ran
  uint32_t instruction = 0;
  bool issue = false;
  Stall reason = Stall::count_; // of a wait
  int64_t begin = 0, end = 0;
};

/// How much of the simulated time a resource worked: the kernel cannot take less than that share of its time.
struct Load {
  std::string_view resource; // "hbm", "l2", "l1", "lds", "valu", "mfma", "issue"
  double share = 0;          // of the time
  double bytes = 0;          // that passed, a compute unit; 0 for pipes
  double from_hbm = 0;       // "hbm": of these, what the memory-side cache did not answer
};

/// What one parameter does to the time: all others at their values, this one at the ends of its error bar.
struct Shifted {
  std::string_view name, unit, meaning, source;
  double value = 0, error = 0;
  double low_seconds = 0, high_seconds = 0; // at value - error, value + error
};

struct Estimate {
  std::vector<double> seconds; // one a draw; draw 0 is the nominal table
  double median = 0;
  double cv = 0;
  double kernel_cycles = 0; // nominal, without the launch floor
  // kernel_cycles is the sum of these: what was simulated, and the middle of a long grid, at the rate of the workgroups
  // simulated from there.
  double simulated_cycles = 0, extrapolated_cycles = 0;
  double wave_cycles = 0; // nominal: residence of the simulated waves
  uint64_t executed = 0;  // wave-instructions of the workgroups that were executed for it; 0: not known
  isa::Occupancy occupancy;
  std::string bound; // "hbm", "l2", "lds", "valu", "mfma", "issue", "latency", "launch"
  std::vector<Load> loads;
  std::vector<Shifted> shifted; // parameters with an error bar, in the order of the table; only when asked for
  // Only when asked for.
  std::vector<Attribution> attribution;
  std::vector<Dependence> dependences; // by consumer
  double dispatch_cycles = 0,
         drain_cycles = 0;     // of SIMDs: until the wave that issues next was launched; after the last issue
  std::vector<Slice> timeline; // in order of their ends, a wave's own in order
  std::shared_ptr<const Rehearsal> rehearsal; // for other orders of the code
};

struct EstimateOptions {
  unsigned draws = 16;
  uint64_t seed = 0; // the same seed gives K0 and a candidate the same draws
  bool attribution = false;
  size_t timeline = 0; // so many slices of the nominal draw, the first ones; needs attribution
  bool sensitivity = false;
  bool power_limited = false; // at the clock that sustained matrix work leaves of the board's power
  bool repeated = true; // the launch before was the same one, as in a benchmark's loop; else caches hold less of use
};

Result<Estimate> estimate(const Work& work, const DeviceTable& device, const EstimateOptions& options);
/// What tells how long other orders of the work's code would take, by the same draws. Keeps `trace`.
Result<std::shared_ptr<const Rehearsal>> rehearse(const Work& work, std::shared_ptr<const machine::Trace> trace,
                                                  const DeviceTable& device, const EstimateOptions& options);

} // namespace asmevo::timing
