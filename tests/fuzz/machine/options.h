// The command line of the fuzzers that make programs: -name=value.
#pragma once

#include "batch.h"

#include <functional>
#include <optional>

namespace asmevo::fuzz {

struct Options {
  uint64_t seed = 1;
  std::optional<unsigned> count; // of own programs: 100, or one of a file
  unsigned csmith = 0, jobs = 1, batch = 20;
  int level = -1; // -1: by batch
  std::vector<isa::Processor> targets;
  std::string keep, file;
};

/// Errors begin with `tool`.
Result<Options> parse_options(std::string_view tool, int argc, char** argv);

Result<uint64_t> parse_number(std::string_view tool, std::string_view text, std::string_view what, uint64_t limit);

std::vector<Batch> batches_of(const Options& options);

/// The optimisation level of batch `number`.
unsigned level_of(const Options& options, unsigned number, isa::Processor target);

/// The options that make program `k` of a batch again.
std::string repeat_with(const Batch& batch, unsigned k, isa::Processor target, unsigned level);

/// For messages of several threads.
void say(std::string_view text);

/// A folder for each batch, which goes when its work is done, or is kept where the options say so. False where work on
/// a batch gave an error, which is told.
using BatchWork = std::function<Result<void>(const Batch& batch, unsigned number, const std::string& folder)>;
bool for_each_batch(std::string_view tool, const Options& options, const BatchWork& work);

} // namespace asmevo::fuzz
