// Random programs for the differential fuzzer, in the C of runtime.h.
#pragma once

#include <cstdint>
#include <string>

namespace asmevo::fuzz {

/// Values that a program leaves behind for each work-item.
inline constexpr unsigned results_per_item = 16;

/// Source of kernel `k<number>`. The same seed gives the same program, whatever the number. It has no undefined
/// behaviour, ends, and writes results_per_item 64-bit words at out + item, one every `items` words.
std::string generate(uint64_t seed, unsigned number);

} // namespace asmevo::fuzz
