// A device: what the timing model knows of one part, as numbers with error bars and sources.
//
// Nothing about a part's speed is hidden in code: every figure the model multiplies, adds or compares stands in a
// ParameterSet, and a device file fills one. The same set with doubles in place of Parameters is what a simulation
// runs on: draw 0 is the table's values, draw n > 0 takes each parameter uniformly from value ± error. Two programs
// timed with the same seed see the same draws, so an uncertain latency moves both and cancels where it should.
//
// Sizes and counts (compute units, cache lines) are facts of the part and not drawn.
#pragma once

#include "timing/timing.h"

#include <cmath>
#include <span>

namespace asmevo::timing {

// name, unit, meaning
#define ASMEVO_TIMING_PARAMETERS(X)                                                                                    \
  /* the part */                                                                                                       \
  X(clock, "MHz", "shader clock")                                                                                      \
  X(power_limited_clock, "MHz", "shader clock under sustained matrix load at the power limit")                         \
  X(launch_floor, "us", "empty kernel, event to event")                                                                \
  X(dispatch_workgroup, "clk", "between two workgroups of one XCD, at least")                                          \
  X(dispatch_wave, "clk", "between two wave launches of one XCD, at least")                                            \
  X(wave_start, "clk", "wave launch to its first issue, instruction cache warm")                                       \
  X(workgroup_turnover, "clk", "last wave's end to the first wave of the next workgroup in its place")                 \
  /* vector ALU */                                                                                                     \
  X(valu_dependent, "clk", "32-bit result to a dependent VALU issue (issue happens at turns of 4)")                    \
  X(valu_fma_dependent, "clk", "multiply-add or dot product to a dependent issue")                                     \
  X(valu_f64_issue, "clk", "SIMD occupied by an f64 add, multiply or FMA")                                             \
  X(valu_f64_dependent, "clk", "f64 result to a dependent issue")                                                      \
  X(valu_trans_issue, "clk", "SIMD occupied by a 32-bit transcendental")                                               \
  X(valu_trans_dependent, "clk", "transcendental result to a dependent issue")                                         \
  X(valu_convert_issue, "clk", "SIMD occupied by a float conversion")                                                  \
  X(valu_multiply_issue, "clk", "SIMD occupied by a 32-bit integer multiply")                                          \
  X(valu_wide_issue, "clk", "SIMD occupied by a 64-bit shift")                                                         \
  X(valu_cross_lane, "clk", "DPP, SDWA or permlane source: extra latency after the producer")                          \
  X(valu_to_scalar, "clk", "SGPR or VCC written by VALU to its scalar reader")                                         \
  X(valu_to_memory, "clk", "VGPR written by VALU to the memory instruction that reads it")                             \
  X(mfma_result, "clk", "end of an MFMA's last pass to a dependent issue")                                             \
  X(mfma_gap, "clk", "pipe idle between independent MFMAs")                                                            \
  /* scalar unit and control */                                                                                        \
  X(salu_dependent, "clk", "SALU result to a dependent issue")                                                         \
  X(branch_taken, "clk", "taken branch to the next issue of the wave")                                                 \
  X(branch_not_taken, "clk", "branch not taken to the next issue of the wave")                                         \
  X(fetch_split, "clk", "extra where a branch target's instruction crosses a 32-byte fetch block")                     \
  X(fetch_sequential_miss, "clk", "most that straight-line code stalls on entering a line that was not cached")        \
  X(fetch_jump_miss, "clk", "stall where a branch lands in a line that is not cached")                                 \
  X(barrier_release, "clk", "last arrival at s_barrier to the next issue of the waves")                                \
  X(message, "clk", "s_sendmsg, s_setreg, s_memtime and the like: to the next issue")                                  \
  /* scalar memory */                                                                                                  \
  X(scalar_hit, "clk", "scalar load that hits the scalar cache")                                                       \
  X(scalar_miss_extra, "clk", "added to the level that answers a scalar miss")                                         \
  /* LDS */                                                                                                            \
  X(lds_latency, "clk", "LDS port done with a read to its data usable")                                                \
  X(lds_write_latency, "clk", "LDS port done with a write to its lgkmcnt return")                                      \
  X(lds_read_fixed, "clk", "port of a SIMD pair, each read")                                                           \
  X(lds_read_rate, "B/clk", "port of a SIMD pair, data of reads")                                                      \
  X(lds_write_fixed, "clk", "port of a SIMD pair, each write (addresses)")                                             \
  X(lds_write_rate, "B/clk", "port of a SIMD pair, data of writes")                                                    \
  X(lds_access, "clk", "port of a SIMD pair, each access that bank conflicts leave")                                   \
  X(lds_bank_access, "clk", "banks of the CU, each access")                                                            \
  X(lds_permute, "clk", "ds_permute, ds_bpermute, ds_swizzle: latency after the port")                                 \
  X(lds_queue, "ops", "LDS instructions a SIMD pair accepts before the port has served them")                          \
  /* vector memory */                                                                                                  \
  X(address_rate, "lanes/clk", "address unit")                                                                         \
  X(l1_line, "clk", "L1 tag lookup, each line of the fullest of 4 banks")                                              \
  X(l1_rate, "B/clk", "L1 data of a CU")                                                                               \
  X(vmem_queue, "ops", "vector memory instructions a CU accepts before the address unit has served them")              \
  X(l1_latency, "clk", "dependent load that hits L1")                                                                  \
  X(l2_latency, "clk", "dependent load that hits L2")                                                                  \
  X(mall_latency, "clk", "dependent load that hits the memory-side cache")                                             \
  X(hbm_latency, "clk", "dependent load from HBM")                                                                     \
  X(store_latency, "clk", "store accepted to its vmcnt return")                                                        \
  X(atomic_line, "clk", "L2, each line of an atomic")                                                                  \
  X(l2_port_rate, "B/clk", "L2 to one CU, alone")                                                                      \
  X(l2_rate, "B/clk", "L2 of an XCD to all its CUs")                                                                   \
  X(cu_memory_rate, "B/clk", "most that one CU draws from beyond L2")                                                  \
  X(mall_bandwidth, "GB/s", "memory-side cache, device")                                                               \
  X(hbm_bandwidth, "GB/s", "HBM, device, as kernels reach it")

template <class T> struct ParameterSet {
#define ASMEVO_FIELD(name, unit, meaning) T name{};
  ASMEVO_TIMING_PARAMETERS(ASMEVO_FIELD)
#undef ASMEVO_FIELD
};

struct ParameterInfo {
  const char *name, *unit, *meaning;
};
inline constexpr ParameterInfo parameter_info[] = {
#define ASMEVO_INFO(name, unit, meaning) {#name, unit, meaning},
    ASMEVO_TIMING_PARAMETERS(ASMEVO_INFO)
#undef ASMEVO_INFO
};
inline constexpr size_t parameter_count = std::size(parameter_info);

/// What one simulation runs on.
using Values = ParameterSet<double>;

/// A drawn duration in whole clocks.
inline int64_t clocks(double duration) { return std::llround(duration); }

struct DeviceTable {
  const char* name = "";
  isa::Processor processor = isa::Processor::gfx942;
  uint32_t compute_units = 0;
  uint32_t xcds = 1;
  uint32_t l1_bytes = 0;               // lines of 128 bytes; 64 ways by 4 hashed sets act like one set
  uint32_t l2_bytes = 0, l2_ways = 16; // of one XCD
  uint64_t mall_bytes = 0;             // 0: none
  uint32_t scalar_cache_bytes = 16384, instruction_cache_bytes = 65536;
  uint32_t cus_per_instruction_cache = 2;
  ParameterSet<Parameter> parameters;

  uint32_t compute_units_per_xcd() const { return compute_units / xcds; }
};

std::span<const DeviceTable* const> all_devices();

/// Draw `number` of `seed`; number 0 is the nominal table.
Values draw(const DeviceTable& device, uint64_t seed, unsigned number);

/// The nominal table with one parameter (an index of parameter_info) moved by `part` of its error: -1 or 1 for the ends
/// of its bar.
Values shift(const DeviceTable& device, size_t parameter, double part);
/// Parameter `index` of the table.
Parameter parameter_of(const DeviceTable& device, size_t index);

} // namespace asmevo::timing
