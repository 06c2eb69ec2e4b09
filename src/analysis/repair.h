// Waits and nops put back.
//
// A rule or an agent that moves instructions need not think about counters and wait states: it takes all s_waitcnt and
// s_nop out of its stretch, and this file puts the weakest ones in that the verifiers accept. What no register shows (a
// wait that makes LDS writes arrive before a barrier, or stores before a flag) is taken over from the original program.
//
// A wait that the original did before a loop must not end up inside it, so registers that had settled at the end of the
// stretch have settled there afterwards too.
#pragma once

#include "analysis/waits.h"
#include "isa/codec.h"

namespace asmevo::analysis {

/// What has to be put before an item.
struct Insertion {
  size_t item = 0;
  Wait wait;         // none where only states are missing
  unsigned nops = 0; // wait states, behind the wait
};

/// What `function` still lacks. Empty for a program that the verifiers find clean (and whose pins hold).
std::vector<Insertion> missing_waits(const recover::Program& program, const recover::Function& function,
                                     std::span<const Pin> pins = {});

/// "s_waitcnt vmcnt(2) lgkmcnt(0)", then as few s_nop as give `nops` states; a line each.
std::string wait_text(const Wait& wait, unsigned nops);

/// Insertions as edits; each replaces nothing.
std::vector<recover::Edit> repair(const recover::Program& program, const recover::Function& function,
                                  std::span<const Pin> pins = {});

/// The same, carried out.
recover::Program repaired(const recover::Program& program, size_t function, std::span<const Pin> pins,
                          const isa::Codec& codec);

/// The items of [first, last) that only wait and may be taken out. The 256 bytes before a preload kernel's second entry
/// keep their length, so nothing goes there.
std::vector<size_t> removable_waits(const recover::Program& program, const recover::Function& function, size_t first,
                                    size_t last);

/// A program without them, and what it has to keep in mind. `program` may be one whose instructions have already moved
/// while the waits stood still: barriers then wait for every LDS access, whatever the waits say.
struct Stripped {
  recover::Program program;
  std::vector<size_t> original; // by new item
  std::vector<Pin> pins;        // in new items
};
Stripped strip(const recover::Program& program, size_t function, size_t first, size_t last);

/// The blocks of `after`, by their number in its control-flow graph, that `edits` of `before` touch: those that hold
/// something new, and those that hold what is left of a block where something was taken away.
std::vector<bool> touched_blocks(const recover::Program& before, std::span<const recover::Edit> edits,
                                 const recover::Program& after, size_t function);

/// Waits and nops of these blocks taken out and put back as the code needs them. Blocks keep their number: only waits
/// come and go. Doing it again changes nothing.
recover::Program renewed(recover::Program program, size_t function, const std::vector<bool>& blocks,
                         const isa::Codec& codec);

/// The stretch [first, last) of one block with its instructions in the order of `items` (program items, each once; the
/// waits and nops of the stretch may be missing), waits and nops renewed. The order must keep dependences() of the
/// stretch.
struct Reordered {
  std::vector<size_t> items;         // without waits and nops
  std::vector<Insertion> insertions; // before items[Insertion::item]; behind the last where that is their number
  std::vector<Insertion> elsewhere;  // before items of the program outside of the stretch
};
Reordered reordered(const recover::Program& program, const recover::Function& function, size_t first, size_t last,
                    std::span<const size_t> items);

/// The same as edits: one replaces the stretch, the others are where a wait is needed elsewhere. Sorted.
std::vector<recover::Edit> reorder(const recover::Program& program, const recover::Function& function, size_t first,
                                   size_t last, std::span<const size_t> items);

/// An insertion as the instructions that it puts in.
std::vector<recover::Item> wait_items(const Insertion& insertion, const isa::Codec& codec);

/// An item as a line of an edit's text.
std::string item_text(const recover::Item& item);

} // namespace asmevo::analysis
