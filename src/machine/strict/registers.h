// Registers that nothing has written.
//
// What a register holds at the start of a wave, beyond the few that the dispatch defines, is whatever the wave before
// it left there. A read of it is an error even where the value does not matter today. Vector registers are followed
// lane by lane: an instruction under partial EXEC defines only its lanes.
//
// Written registers stay written. So once an instruction has found all its sources written in all lanes of the wave,
// and all its results too, it need not be looked at again by that wave: in a loop nearly everything settles in the
// first iteration.
#pragma once

#include "machine/dispatch.h"
#include "machine/strict/findings.h"

#include <array>

namespace asmevo::machine::strict {

/// Which lanes of its vector sources an instruction reads, or of its destination writes.
enum class Reach : uint8_t { active, all, first_active, selected, dpp };

/// What an instruction reads and writes, for the question whether it was written before.
struct RegisterUse {
  struct Rows {
    uint16_t first = 0, count = 0; // rows, accumulation registers behind or among the others
    isa::RegisterRange range;
  };
  std::array<uint64_t, 2> scalar_reads{}, scalar_writes{}; // a bit a register
  std::vector<Rows> reads, writes;
  Reach read_reach = Reach::active, write_reach = Reach::active;
};

/// One table a run.
std::vector<RegisterUse> register_uses(const LaunchPlan& plan);
RegisterUse register_use(const LaunchPlan& plan, const isa::Instruction& instruction);

/// The registers of one wave.
class WrittenRegisters {
public:
  WrittenRegisters() = default;
  WrittenRegisters(const LaunchPlan& plan, const Wave& w);

  /// Before `w` executes instruction `index`.
  void check(Wave& w, uint32_t index, const RegisterUse& use, Findings& findings) {
    if (!settled_[index]) settled_[index] = look(w, index, use, findings);
  }
  /// Likewise, where registers other than those it names are used.
  void check_moved(Wave& w, uint32_t index, const RegisterUse& use, Findings& findings) {
    look(w, index, use, findings);
  }

private:
  /// Says whether that need not be done again.
  bool look(Wave& w, uint32_t index, const RegisterUse& use, Findings& findings);
  bool write(Wave& w, uint32_t index, const RegisterUse& use);

  std::vector<uint8_t> settled_; // an instruction each
  std::vector<uint64_t> lanes_;  // of each row: which are written
  std::array<uint64_t, 2> scalars_{};
  uint64_t started_ = 0; // lanes that the wave began with
};

} // namespace asmevo::machine::strict
