// What one has to know of a window to rewrite it: what it is given, what it owes, and what it may use.
#pragma once

#include "agent/code_view.h"
#include "analysis/liveness.h"
#include "analysis/waits.h"

namespace asmevo::agent {

struct WindowFacts {
  analysis::RegisterSet live_in, live_out;        // at its first item; at every place it can be left for
  analysis::RegisterSet free;                     // within what costs no occupancy: neither live in it nor named by it
  analysis::InFlight in_flight_in, in_flight_out; // before its first item; behind its last
  bool entered_inside = false;                    // control also comes in at a label of the window
  bool falls_through = false;                     // control may run past its last item
  std::vector<std::string> branches_to;           // labels outside of it
  bool indexed = false; // an instruction of the kernel adds M0 to register numbers: `free` cannot know of it
};

WindowFacts facts_of(const CodeView& view, Range range, uint32_t workgroup_size, uint32_t dynamic_lds);

/// "v[0:3]", "s5", "vcc_lo": runs of registers of one file, in the order of their numbers.
std::vector<std::string> register_names(const analysis::RegisterSet& registers);

} // namespace asmevo::agent
