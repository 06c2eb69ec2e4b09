// Random contents of buffers: functions of a seed, a name and an index.
#pragma once

#include "launch/launch.h"

namespace asmevo::launch {

/// The fills of which is_random() is true.
void fill_random(const Buffer& buffer, uint64_t seed, std::span<uint8_t> into);

} // namespace asmevo::launch
