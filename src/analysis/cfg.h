// Control-flow graph of one function of a Program.
#pragma once

#include "recover/program.h"

namespace asmevo::analysis {

struct Block {
  size_t first = 0, last = 0; // items [first, last) of the program
  std::vector<uint32_t> successors, predecessors;
  bool exits = false;   // ends in s_endpgm
  bool unknown = false; // ends in an indirect branch whose targets are not known: every label may follow
};

struct Graph {
  std::vector<Block> blocks; // by position; block 0 is the entry, a preload kernel's second entry is in `entries`
  std::vector<uint32_t> entries;
  std::vector<uint32_t> block_of; // by item - function.first
};

Graph control_flow(const recover::Program& program, const recover::Function& function);

} // namespace asmevo::analysis
