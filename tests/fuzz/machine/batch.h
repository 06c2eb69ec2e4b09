// Some programs compiled together: for the host once, for a device target as often as wanted.
#pragma once

#include "isa/target.h"
#include "support/result.h"

#include <vector>

namespace asmevo::fuzz {

inline constexpr unsigned items = 128, input_words = 512;

enum class Source : uint8_t { own, csmith, file };

struct Batch {
  Source source = Source::own;
  uint64_t first_seed = 0;
  unsigned count = 0;
  std::string path; // of a file with kernel k0
};

/// Per program and work-item, results_per_item words. An empty vector where there is nothing to compare with: the host
/// did not finish in time, or a program that is not our own finished otherwise when optimised (csmith's may hold endless
/// loops that an optimiser is free to drop).
using Results = std::vector<std::vector<uint64_t>>;

/// What program `k` of a batch reads: a function of its seed.
std::vector<uint32_t> input_of(const Batch& batch, unsigned k);

/// Writes the batch's source to `folder`/batch.c. Errors: csmith is not there.
Result<void> write_source(const Batch& batch, const std::string& folder);

/// Compiles `folder`/batch.c for this machine and runs every program in a child process.
Result<Results> run_on_host(const Batch& batch, const std::string& folder);

/// Compiles `folder`/batch.c at -O`level`; returns the path of the code object.
Result<std::string> compile_for_device(const std::string& folder, isa::Processor processor, unsigned level);

} // namespace asmevo::fuzz
