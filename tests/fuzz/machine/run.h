// A generated kernel on the simulated machine.
#pragma once

#include "machine/machine.h"

namespace asmevo::fuzz {

struct KernelRun {
  std::vector<uint64_t> results; // per item, results_per_item words
  uint64_t instructions = 0;
};

/// Errors: it faults, or does not end within `budget` wave-instructions.
Result<KernelRun> run_kernel(const machine::Image& image, const object::Kernel& kernel, const std::vector<uint32_t>& in,
                             uint64_t budget = 600'000'000,
                             machine::Schedule schedule = machine::Schedule::round_robin);

} // namespace asmevo::fuzz
