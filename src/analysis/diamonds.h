// Two ways under EXEC: what compilers make of if and else.
//
//     s_and_saveexec_b64 rest, condition      the lanes where it holds
//     s_xor_b64 rest, exec, rest              the others
//     s_cbranch_execz ...
//       first arm
//     s_andn2_saveexec_b64 saved, rest        or s_or_saveexec_b64 saved, rest; what all do; s_xor_b64 exec, exec,
//     saved s_cbranch_execz ...
//       second arm
//     s_or_b64 exec, exec, saved
//
// Every lane goes one of the ways, so a register that both arms write is written in all lanes that there are, though no
// write of it is made with all of them. An arm is skipped where no lane takes it. It may be laid out far away, and what
// stands between the arms and behind them is there twice then.
#pragma once

#include "analysis/cfg.h"
#include "analysis/registers.h"

#include <optional>

namespace asmevo::analysis {

/// Instructions are named by item; waits and nops are left out.
struct Diamond {
  size_t head = 0; // s_and_saveexec_b64
  std::vector<size_t> first, both, second;
  std::vector<size_t> frame; // what else stands in front of the joins, copies included
  std::vector<size_t> joins; // s_or_b64; the first is where a wave arrives that skips nothing
};

/// Those whose arms are straight code, in the order of their heads.
std::vector<Diamond> diamonds(const recover::Program& program, const recover::Function& function);

/// Whether arms and joins are reached through the head alone.
bool is_closed(const recover::Program& program, const recover::Function& function, const Graph& graph,
               const Diamond& diamond);

/// What a diamond does to vector registers, seen from a lane that is active where it begins.
struct Passage {
  RegisterSet written; // by every lane, before it reads them
  RegisterSet read;    // by a lane that has not written them, or across lanes
};
Passage passage(const recover::Program& program, const RegisterMap& map, const Diamond& diamond);

/// The next instruction that does anything, from `item` on: behind labels, waits, nops and s_branch. Nothing where that
/// leads out of the function.
std::optional<size_t> next_instruction(const recover::Program& program, const recover::Function& function, size_t item);

/// Where a branch goes when it is taken; nothing for what is no branch to a label of the function.
std::optional<size_t> target_of(const recover::Program& program, const recover::Function& function, size_t branch);

/// Neither matrix operations, which take all lanes, nor what takes values of other lanes.
bool reads_active_lanes(const isa::Instruction& instruction);

} // namespace asmevo::analysis
