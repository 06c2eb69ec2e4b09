// The late-load schedule: results of loads arrive only when a wait forces them.
//
// Between the issue of a load and the wait that covers it the hardware may write the register at any moment. The
// machine's own loads are as early as can be; here they are as late. A kernel that waits before it looks cannot tell
// the difference, one that does not reads what the register held before, and one that writes the register in between
// sees its value overwritten.
//
// Memory is still read (and changed, by atomics) at issue: what is late is the register, or the LDS of a load to LDS.
#pragma once

#include "machine/watcher.h"

namespace asmevo::machine {

/// What the instructions of an image do to the counters and where their results go; worked out once a run.
class LateTable;

std::shared_ptr<const LateTable> make_late_table(const Image::Impl& image);

/// The watcher of one workgroup.
std::unique_ptr<Watcher> make_late_loads(std::shared_ptr<const LateTable> table);

} // namespace asmevo::machine
