// Which instructions of a block must stay in order, for list scheduling.
//
// Nodes are the instructions of a stretch of one block without its s_waitcnt and s_nop: those follow from the order and
// are put back afterwards (repair.h). Registers give read-after-write, write-after-read and write-after-write edges,
// EXEC, SCC, VCC, M0 and MODE like any other. Memory gives edges where order can matter (memory.h); where addresses are
// known (addresses.h), accesses that are provably disjoint have none, whatever registers they name: for global memory
// in each lane, for LDS in all lanes of the wave. Barriers keep every memory access on its side. What changes how later
// instructions are read (s_setreg, s_set_gpr_idx, traps) keeps everything on its side; a branch or s_endpgm stays last.
#pragma once

#include "analysis/cfg.h"
#include "analysis/registers.h"

namespace asmevo::analysis {

class Addresses;

enum class DependenceKind : uint8_t { read_after_write, write_after_read, write_after_write, memory, order };

struct Dependence {
  uint32_t node = 0; // the other end, an index into DependenceGraph::items
  DependenceKind kind = DependenceKind::order;
  uint16_t unit = 0; // register, for the first three kinds
};

struct DependenceGraph {
  std::vector<size_t> items;                         // program items, in order
  std::vector<std::vector<Dependence>> predecessors; // by node
  std::vector<std::vector<Dependence>> successors;

  /// Whether `order`, a permutation of the nodes, keeps every dependence.
  bool allows(std::span<const uint32_t> order) const;
};

/// [first, last) lies within one block; labels at its start are left out. Without `addresses` the text of instructions
/// says which accesses are disjoint.
DependenceGraph dependences(const recover::Program& program, const recover::Function& function, size_t first,
                            size_t last, const Addresses* addresses = nullptr);

/// s_waitcnt and s_nop: the instructions that only buy time.
bool only_waits(const isa::Instruction& instruction);

} // namespace asmevo::analysis
