// The simulated CDNA device, functional: executes a dispatch of a code object's kernel over Memory.
//
// An Image is a code object decoded for execution, once, and shared by every launch of it. run() knows nothing of time;
// what happened is returned as values: a status, counts, and for chosen workgroups a trace.
#pragma once

#include "isa/codec.h"
#include "isa/resources.h"
#include "machine/finding.h"
#include "machine/memory.h"
#include "machine/trace.h"
#include "object/code_object.h"

#include <chrono>
#include <functional>

namespace asmevo::machine {

/// A code object ready to run. Immutable; cheap to copy.
class Image {
public:
  /// Decodes every instruction of .text. Unknown words and unsupported instructions are not errors here: executing one
  /// is (law: an error that names it, never a guess).
  static Result<Image> create(std::shared_ptr<const object::CodeObject> object, const isa::Codec& codec);

  /// An image of bare instruction bytes at address 0, with one kernel "text" whose descriptor asks for `resources`. Its
  /// waves get the kernarg address in s[0:1], workgroup ids in s2, s3, s4, and work-item ids x, y, z.
  static Result<Image> from_text(std::span<const uint8_t> text, const isa::Codec& codec,
                                 const isa::Resources& resources);

  const object::CodeObject& object() const;
  const isa::Target& target() const;
  /// In address order; TraceEvent::instruction and Fault::instruction index this.
  const std::vector<isa::Instruction>& instructions() const;
  /// Whether workgroups may tell each other something while they run: global atomics, scalar stores, sleeps.
  bool may_communicate() const;
  /// Maps the allocated segments (descriptors and constants read-only) at `base`, which must be a multiple of 4096.
  /// All image addresses (kernel entries, data) are base + the object's virtual address.
  Result<void> load(Memory& memory, uint64_t base) const;

  struct Impl;
  std::shared_ptr<const Impl> impl;
};

struct Dispatch {
  const object::Kernel* kernel = nullptr; // of the image's object
  uint64_t load_base = 0;                 // where Image::load put the object
  uint64_t kernarg_address = 0;
  std::array<uint32_t, 3> workgroups{1, 1, 1};
  std::array<uint32_t, 3> workgroup_size{64, 1, 1};
  std::array<uint64_t, 3> grid_size{0, 0,
                                    0}; // work-items; 0 means workgroups * workgroup_size. Smaller: tail workgroups
  uint32_t dynamic_lds = 0;
  uint64_t dispatch_ptr = 0, queue_ptr = 0, implicit_args = 0; // 0 where nothing is mapped there
  /// Firmware that knows of kernel arguments to preload. Other firmware enters at the first instruction, where a
  /// prologue loads them, and leaves their registers as they are.
  bool preload = true;
};

/// How waves take turns, and when results of loads arrive: at once, or (late_loads, in turns as round_robin) not before
/// a wait forces them. Results of a race-free kernel that waits for its loads do not depend on it; the oracle uses it
/// to find those that do.
enum class Schedule : uint8_t { round_robin, run_to_barrier, seeded_random, late_loads };

struct Debugging; // debug/debugging.h

struct RunOptions {
  Schedule schedule = Schedule::round_robin;
  uint64_t seed = 0;
  uint64_t instruction_budget = uint64_t{20'000'000'000}; // wave-instructions of the whole dispatch
  std::chrono::milliseconds wall_budget{60'000};
  uint64_t undefined_seed = 0;  // LDS and registers that a dispatch does not define hold words of this seed; 0: zeros
  unsigned threads = 0;         // 0: all cores where workgroups cannot see each other, else 1
  std::vector<uint32_t> traced; // linear workgroup ids to trace, sorted; not with strict, debugging or late_loads
  bool only_traced = false;     // execute no other workgroup (timing wants no results)
  bool strict = false;          // look for what works by luck: RunResult::strict. One thread
  const Debugging* debugging = nullptr;                        // trace, dumps and coverage. One thread
  std::function<void(uint64_t done, uint64_t total)> progress; // workgroups; called from one thread
  const volatile bool* stop = nullptr; // set by a signal handler: ends the run with status `stopped`
};

enum class Status : uint8_t { completed, fault, budget, deadlock, stopped };

struct Fault {
  uint64_t address = 0;     // pc, as an address of the object
  int64_t instruction = -1; // index, -1 outside .text
  uint32_t workgroup = 0, wave = 0;
  int lane = -1; // -1 for scalar faults
  uint64_t data_address = 0;
  std::string message; // "global_store_dword writes 4 bytes past the end of `out`"
};

/// Where a wave was when a run ended early.
struct Standing {
  uint32_t workgroup = 0, wave = 0;
  uint64_t address = 0;       // of the instruction it was about to execute, or waits at
  int64_t instruction = -1;   // its index, -1 outside .text
  uint64_t executed = 0;      // instructions
  std::string_view waits_for; // "a barrier", "nobody: it is halted", or empty where it could go on
};

/// Wave-instructions executed, by how exactly their results are known.
struct Fidelity {
  uint64_t exact = 0;
  uint64_t approximate = 0;                       // hardware rounding is unpublished
  std::vector<std::string> approximate_mnemonics; // sorted
};

struct RunResult {
  Status status = Status::completed;
  std::optional<Fault> fault; // for fault, budget and deadlock: where the (first) wave stood
  uint64_t instructions = 0;  // wave-instructions
  uint64_t waves = 0;
  Fidelity fidelity;
  Trace trace;
  std::vector<Standing> standing; // for budget, deadlock and stopped: waves of the resident workgroups, the first 64
  StrictReport strict;
  std::vector<uint64_t> executed; // wave-instructions by instruction, where Debugging asks for coverage
};

/// Runs one dispatch to its end. Bit-identical at any thread count.
/// Errors only for what never started: a kernel of another object, sizes out of range, missing mappings.
Result<RunResult> run(const Image& image, const Dispatch& dispatch, Memory& memory, const RunOptions& options);

/// exact / approximate / unsupported for a mnemonic (no suffix) on a processor.
enum class Support : uint8_t { exact, approximate, unsupported };
Support support_of(std::string_view mnemonic, isa::Processor processor);

} // namespace asmevo::machine
