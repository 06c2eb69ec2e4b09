// A timeline as a trace that Perfetto and chrome://tracing open: one track a wave slot, on it each wave, and inside the
// wave what it issued and what it waited for.
//
// Format: "Trace Event Format" (catapult), complete events (ph X) with metadata events (ph M) for the names of tracks.
// Its times are microseconds; a shader clock is written as 0.001 of them, so that the viewers' nanoseconds are clocks.
#pragma once

#include "timing/timing.h"

#include <functional>
#include <string>

namespace asmevo::profile {

/// `text` gives an instruction's text by its index, `address` its address.
struct TraceNames {
  std::string title; // of the kernel and the device
  std::function<std::string(uint32_t instruction)> text;
  std::function<uint64_t(uint32_t instruction)> address;
};

/// One JSON document.
std::string trace_events(const std::vector<timing::Slice>& timeline, const TraceNames& names);

} // namespace asmevo::profile
