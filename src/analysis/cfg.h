// Control-flow graph of one function of a Program.
//
// Branches name labels, so edges are found by name. A call (s_swappc_b64, s_call_b64) ends its block, since what is
// known of registers in front of it need not hold behind it, and returns to the next one. s_setpc_b64 is one of three
// things: a far branch, whose target the preceding s_getpc_b64 sequence names; a return; or a jump through a table. The
// last two are `unknown`; a return from a device function leaves, a jump in a kernel may reach every label.
#pragma once

#include "recover/program.h"

namespace asmevo::analysis {

struct Block {
  size_t first = 0, last = 0; // items [first, last) of the program
  std::vector<uint32_t> successors, predecessors;
  bool exits = false;     // ends in s_endpgm
  bool unknown = false;   // ends in an indirect branch whose targets are not known: every label may follow
  bool returns = false;   // ends in s_setpc_b64 of a device function
  bool falls_off = false; // control runs past the end of the function or into data
};

struct Graph {
  std::vector<Block> blocks; // by position; block 0 is the entry, a preload kernel's second entry is in `entries`
  std::vector<uint32_t> entries;
  std::vector<uint32_t> block_of; // by item - function.first
};

Graph control_flow(const recover::Program& program, const recover::Function& function);

/// Blocks in reverse postorder from the entries, then those that nothing reaches, by position.
std::vector<uint32_t> reverse_postorder(const Graph& graph);

/// By block: whether any entry reaches it.
std::vector<bool> reachable(const Graph& graph);

/// Every edge turned round; what leaves the function is where it begins. Dominators of this graph are what every path
/// out of a block leads through.
Graph reversed(const Graph& graph);

inline bool is_instruction(const recover::Item& item) { return item.kind == recover::ItemKind::instruction; }

/// s_swappc_b64 and s_call_b64: control comes back.
bool is_call(const isa::Instruction& instruction);

} // namespace asmevo::analysis
