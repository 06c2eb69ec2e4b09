// Execution of one version of a region, from its top to all its ends.
#pragma once

#include "analysis/addresses.h"
#include "prove/correspondence.h"

namespace asmevo::prove {

/// A way out. `target`: the number of a paired label as "#n", the name of a label of another function, "end", or a
/// jump.
struct Exit {
  std::string target;
  size_t item = 0; // of the program: the label that is reached, or the instruction that leaves
  Id condition = 0;
  Registers registers;
  Id destination = 0; // of a jump through registers: the address; else 0
};

struct Outcomes {
  std::vector<Exit> exits; // one a target
  Memories memories;
  std::vector<Read> reads;
};

/// What is known of one version of the function as a whole.
struct Facts {
  const analysis::BarrierStores& stores;
  /// By item - first_item: EXEC is all ones before it. Null where that is not assumed.
  const std::vector<bool>* full_exec = nullptr;
  size_t first_item = 0;
  const analysis::Addresses* addresses = nullptr; // where memory instructions go; null where nobody asked yet
  bool window = false; // the end is not a place where the versions are claimed to agree; control may just go on there
};

/// Runs items [first, last) of `program`. Labels without counterpart inside may be jumped to from above them.
/// Errors: what is not understood, in words, with the place.
Result<Outcomes> run_region(Shared& shared, const recover::Program& program, size_t first, size_t last, size_t side,
                            const Correspondence& correspondence, const Facts& facts, const Registers& entry,
                            const Memories& memories);

} // namespace asmevo::prove
