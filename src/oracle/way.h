// The ways in which a case is run.
//
// A candidate that is right once may have been lucky, or may have noticed that it is watched. So each case runs several
// ways, and each way changes what a correct kernel does not depend on: what results and guards held before, where
// buffers lie, in which order waves take turns, what an earlier launch left behind; and the input itself.
#pragma once

#include "device/device.h"

#include <span>

namespace asmevo::oracle {

struct Way {
  std::string_view name;    // for messages: how this differs from the first way
  bool other_input = false; // another seed for all random fills, floating-point scalars times 1.25
  uint64_t poison = 1;
  uint64_t undefined = 1; // seed of what registers and LDS hold that nothing has written
  unsigned placement = 0;
  machine::Schedule schedule = machine::Schedule::round_robin;
  bool preload = true;        // as firmware that preloads kernel arguments does
  bool after_earlier = false; // the case itself, with its own input, has run before in the same memory
  bool crowded = false;       // of special values only those that no order of additions can tell apart, but many

  /// Differs from the first way in nothing but the schedule.
  bool only_schedule() const {
    return schedule != machine::Schedule::round_robin && !other_input && poison == 1 && undefined == 1 && !placement &&
           preload && !after_earlier && !crowded;
  }
  /// Differs from it in nothing but how it is executed: the schedule, and perhaps the firmware.
  bool only_execution() const {
    Way with_preload = *this;
    with_preload.preload = true;
    return with_preload.only_schedule();
  }
};

/// How candidates are run; the first is the case as the launch file gives it.
std::span<const Way> candidate_ways();

/// The case with the input of a way; `seed` is Options::seed.
launch::Case case_for(const launch::Case& c, const Way& way, uint64_t seed);
device::LaunchOptions options_for(const launch::Case& c, const Way& way, uint64_t seed);

} // namespace asmevo::oracle
