// What a search with several threads and several workers is made of.
#pragma once

#include "cli/job.h"

namespace asmevo::cli {

/// A bench of one thread, with what it may not share with others.
struct ThreadBench {
  isa::Codec codec;
  std::unique_ptr<device::Device> device;
  gate::Bench bench;
};

/// `count` benches like `bench`, on devices of their own. Errors: those of making a device.
Result<std::vector<std::unique_ptr<ThreadBench>>> thread_benches(const Job& job, const gate::Bench& bench,
                                                                 unsigned count);

} // namespace asmevo::cli
