// What a launch may ask for, wherever it comes from.
#pragma once

#include <cstdint>

namespace asmevo::launch {

constexpr uint64_t largest_memory = uint64_t{16} << 30; // of a case: simulated memory is this machine's memory
constexpr uint64_t address_limit = uint64_t{1} << 48;   // of captured buffers

} // namespace asmevo::launch
