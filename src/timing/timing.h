// The CDNA timing model: from the traces of sampled workgroups to a simulated time, with its uncertainty and where it
// went.
//
// Every number this module returns is simulated and says so at each place it is shown.
#pragma once

#include "isa/resources.h"
#include "machine/machine.h"

#include <string>
#include <vector>

namespace asmevo::timing {

/// A model parameter: value, error bar (half width of a uniform draw, same unit) and where it comes from.
struct Parameter {
  double value = 0;
  double error = 0;
  const char* source = "";
};

struct DeviceTable;                                             // timing/device_table.h
const DeviceTable& device_for(isa::Processor processor);        // the default part of a processor: MI300X for gfx942
Result<const DeviceTable*> device_named(std::string_view name); // "MI300X", "MI210", ...
std::string_view device_name(const DeviceTable&);               // "MI300X"

/// Linear ids of the workgroups to trace, sorted. All of them for small grids; otherwise a few that show how addresses
/// move with the workgroup id (neighbours along each dimension), what the borders do, and whether work changes along
/// the grid (positions spread over it). The rule is in docs/timing-model.md.
std::vector<uint32_t> sample_workgroups(std::array<uint32_t, 3> workgroups, const isa::Occupancy& occupancy,
                                        const DeviceTable& device);

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

/// Per instruction of the image (same index), summed over the simulated waves, in shader clocks of the nominal draw.
/// Issue and stall cycles of all instructions add up to Estimate::wave_cycles exactly: every clock a wave was resident
/// on the simulated compute unit is charged once.
struct Attribution {
  uint64_t issues = 0;
  double issue_cycles = 0;
  std::array<double, size_t(Stall::count_)> stall_cycles{};
};

struct Estimate {
  std::vector<double> seconds; // one a draw; draw 0 is the nominal table
  double median = 0;
  double cv = 0;
  double kernel_cycles = 0; // nominal, without the launch floor
  double wave_cycles = 0;   // nominal: residence of the simulated waves, what the attribution adds up to
  isa::Occupancy occupancy;
  std::string bound;                    // "hbm", "l2", "lds", "valu", "mfma", "latency", "launch"
  std::vector<Attribution> attribution; // only when asked for
};

struct EstimateOptions {
  unsigned draws = 16;
  uint64_t seed = 0; // the same seed gives K0 and a candidate the same draws
  bool attribution = false;
  bool repeated = true; // the launch before was the same one, as in a benchmark's loop; else caches hold less of use
};

Result<Estimate> estimate(const Work& work, const DeviceTable& device, const EstimateOptions& options);

} // namespace asmevo::timing
