// One compute unit, clock by clock where something happens.
//
// Four SIMDs share the sequencer: each gets a turn every four clocks, and in its turn at most one instruction of each
// category leaves, each from a different wave, the oldest ready wave first. Whatever an instruction will cost is
// settled when it issues: pipes are servers with a time from which they are free, results and counters are times from
// which they hold. So a wave always knows when it may go on, and the simulation jumps from turn to turn in which
// someone can.
//
// Where the clocks went is told to a Ledger, where one is given.
#pragma once

#include "timing/grid.h"
#include "timing/ledger.h"
#include "timing/memory_path.h"
#include "timing/static_table.h"

namespace asmevo::timing {

/// The workgroups that one compute unit runs, in the order they arrive.
struct CuProgram {
  std::vector<uint64_t> workgroups; // linear ids
  uint32_t resident = 1;            // workgroups at a time
  double arrival_first = 0;         // clocks until the dispatcher serves this CU first
  double arrival_spacing = 0;       // and between two workgroups it gets
};

struct CuResult {
  std::vector<int64_t> completions; // of workgroups, in order of time
  int64_t end = 0;                  // everything done, stores included
  uint64_t instructions = 0;
  double wave_cycles = 0;
  double valu_busy = 0, mfma_busy = 0, lds_busy = 0, issue_turns = 0; // clocks, summed over the SIMDs (LDS: pairs)
  MemoryTraffic traffic;
  std::vector<LineUse> uses; // by instruction, with a ledger
};

CuResult simulate(const CuProgram& program, const StaticTable& code, const PatternTable& patterns, const Grid& grid,
                  const machine::Trace& trace, const DeviceTable& device, const Values& values,
                  const Surroundings& surroundings, Ledger* ledger);

} // namespace asmevo::timing
