// A case as a capture: what its launch would find in memory, at the addresses of the simulated device.
#pragma once

#include "launch/capture.h"

namespace asmevo::device {

/// Errors: no such kernel; a fill that cannot be read.
Result<launch::Capture> capture_case(const object::CodeObject& object, const launch::Case& c,
                                     const std::string& product);

} // namespace asmevo::device
