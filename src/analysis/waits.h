// Wait counters.
//
// A load returns long after it issues, and the hardware does not stop a wave that reads the register too early: the
// code must wait, by counting. One dataflow computes what may still be in flight at each point; it judges (verify) and
// repairs (insert), so that the two cannot disagree. scoreboard.h has the rules of counting.
//
// Registers are not the only thing that is waited for. A wait before s_barrier says that LDS writes have arrived, one
// before a releasing store that earlier stores have. No instruction shows that need, so where waits are taken out and
// put back the original program is the witness: a Pin says how many operations it left outstanding at such a place.
#pragma once

#include "analysis/cfg.h"
#include "analysis/finding.h"
#include "analysis/registers.h"
#include "isa/counters.h"

namespace asmevo::analysis {

std::vector<Finding> verify_waits(const recover::Program& program, const recover::Function& function,
                                  const Graph& graph);

using Wait = isa::WaitCounts;

/// Memory operations by what has to be waited for when others may see them.
enum class Access : uint8_t { lds_read, lds_write, load, store, load_to_lds };
inline constexpr size_t access_kinds = 5;
using AccessMask = uint8_t;
constexpr AccessMask bit(Access access) { return static_cast<AccessMask>(1u << static_cast<unsigned>(access)); }

/// What one instruction does to memory; 0 for none.
AccessMask accesses_of(const isa::Instruction& instruction);

/// What must have completed before `item`: all operations in `done`; of those in `counted` all but the last
/// at_most.vmcnt (vector memory) or at_most.lgkmcnt (LDS); everything that will write a register of `free`. On a label
/// it is about the path that falls into it.
struct Pin {
  size_t item = 0;
  AccessMask done = 0, counted = 0;
  Wait at_most;
  RegisterSet free;
  bool lenient = false; // the original passes this barrier with LDS accesses outstanding (W009, W010), and may go on to
};

/// What the waits of the program guarantee at the places where memory order can matter: barriers, cache control,
/// stores, atomics, LDS operations among loads to LDS. Ordered by item.
std::vector<Pin> memory_pins(const recover::Program& program, const recover::Function& function, const Graph& graph);

/// Registers that no operation in flight will write, as the waits of the program have it before `item`; of a label, on
/// the path that falls into it.
RegisterSet settled_registers(const recover::Program& program, const recover::Function& function, const Graph& graph,
                              size_t item);

/// What may be outstanding before `item`: how many operations of each counter, and which registers they will write.
struct InFlight {
  uint8_t vmcnt = 0, lgkmcnt = 0, expcnt = 0; // at most; a counter's maximum stands for any more
  RegisterSet vector_memory, lds_or_scalar;   // registers that wait for vmcnt, for lgkmcnt
};
InFlight in_flight_before(const recover::Program& program, const recover::Function& function, const Graph& graph,
                          size_t item);

/// Waits that can be weaker than they are: for items of [first, last) that are s_waitcnt, what is left of them when
/// each in turn, from the front, is made as weak as every register, every rule and the order of memory (memory_pins)
/// allow. Only those that change are listed.
struct Relaxed {
  size_t item = 0;
  Wait wait;
};
std::vector<Relaxed> relaxed_waits(const recover::Program& program, const recover::Function& function,
                                   const Graph& graph, size_t first, size_t last);

/// The weakest wait that items of [first, last) need before each of them, on top of the waits that the program still
/// has; with counts from the whole function's dataflow. Result is parallel to the items; fields at their maximum mean
/// no wait. Assumes that the waits it returns for earlier items are put in.
std::vector<Wait> needed_waits(const recover::Program& program, const recover::Function& function, const Graph& graph,
                               size_t first, size_t last, std::span<const Pin> pins = {});

} // namespace asmevo::analysis
