// What the runtime leaves in memory beside the kernarg segment.
//
// Code compiled for code object v4 and earlier learns its grid from the AQL packet of its dispatch, and converts flat
// addresses with apertures that it reads from the queue. Source: HSA Runtime Specification, "Kernel dispatch packet".
#pragma once

#include "launch/launch.h"

namespace asmevo::device {

inline constexpr uint64_t packet_bytes = 64;
inline constexpr uint64_t queue_bytes = 256;

/// The 64-byte kernel dispatch packet.
Bytes dispatch_packet(const launch::Case& c, const object::Kernel& kernel, uint64_t kernel_object,
                      uint64_t kernarg_address);

} // namespace asmevo::device
