// Captures of kerncap, AMD's tool that isolates a kernel of a running program (public, amdresearch/intellikit).
//
//     DIR/dispatch.json            mangled_name, grid (work-items), block, group_segment_size
//     DIR/kernarg.bin              the kernarg segment
//     DIR/kernel.hsaco             the code object
//     DIR/memory_regions.json      {"regions": [{"base": address, "size": bytes}, ...]}
//     DIR/memory/region_<base>.bin content of a region before the dispatch; <base> in hexadecimal
//
// Nothing says what regions mean, so all of them are `inout` bytes at their addresses. Nothing says what they must hold
// either: a file that changed since the capture cannot be noticed, one of another size can.
#pragma once

#include "launch/launch.h"

namespace asmevo::launch {

bool is_kerncap(const std::string& directory);

/// The launch of a capture: one case. Errors with file and place.
Result<Launch> read_kerncap(const std::string& directory);

} // namespace asmevo::launch
