// Differential fuzzing of the simulated machine against the host's compiler.
//
//   fuzz_machine -count=5000 -targets=gfx908,gfx90a,gfx942,gfx950 -csmith=500 -jobs=2 -seed=1
//
// One random source is compiled by clang for x86-64 and for a device target at -O0 to -O3. The host runs the one, the
// machine the other, and every value that a work-item leaves behind must agree. Programs come in batches, to pay for
// a compiler's start once: count of the tool's own generator and csmith of csmith's, for each target. A mismatch
// prints what repeats it (-seed=N -count=1 -level=L -targets=T -keep=DIR keeps source and code object there), and makes
// the exit status 1. A kept source can be cut down and tried again: -file=batch.c with the same -seed and -count.
#include "generator.h"
#include "isa/codec.h"
#include "options.h"
#include "run.h"
#include "support/file.h"

#include <algorithm>
#include <atomic>
#include <map>

using namespace asmevo;
using namespace asmevo::fuzz;

namespace {

/// A program that the compiler, not the machine, gets wrong. Each is proved in docs/testing.md, and a test of its own
/// says so while it is true.
struct Explained {
  Source source;
  uint64_t seed;
  unsigned first_level; // lower ones are right
  std::string_view why;
};
constexpr Explained explained[] = {
    {Source::csmith, 6329, 2, "SIFoldOperands of LLVM 22 replaces x | ~0 by x"},
};

struct Tally {
  std::atomic<uint64_t> agreed = 0, different = 0, explained = 0, faults = 0, unsettled = 0, instructions = 0;
};

constexpr std::string_view tool = "fuzz_machine";

const Explained* explanation(const Batch& batch, unsigned k, unsigned level) {
  for (const Explained& known : explained)
    if (known.source == batch.source && known.seed == batch.first_seed + k && level >= known.first_level) return &known;
  return nullptr;
}

void judge(const std::vector<uint64_t>& want, const Result<KernelRun>& got, const Explained* known,
           const std::string& repeat, Tally& tally) {
  if (!got) {
    ++tally.faults;
    return say(fmt::format("FAULT {}: {}", repeat, got.error().message));
  }
  tally.instructions += got->instructions;
  const auto [expected, found] = std::ranges::mismatch(want, got->results);
  if (expected == want.end()) {
    ++tally.agreed;
    return;
  }
  if (known) {
    ++tally.explained;
    return say(fmt::format("EXPLAINED {}: {}", repeat, known->why));
  }
  ++tally.different;
  const size_t at = size_t(expected - want.begin());
  say(fmt::format("DIFFERENT {}: work-item {}, value {}: {:#x} instead of {:#x}", repeat, at % items, at / items,
                  *found, *expected));
}

Result<void> run_target(const Batch& batch, const std::string& folder, const Results& want, isa::Processor target,
                        unsigned level, Tally& tally) {
  AE_TRY(const std::string path, compile_for_device(folder, target, level));
  AE_TRY(Bytes bytes, read_file(path));
  AE_TRY(auto object, object::read_code_object(std::move(bytes), path));
  AE_TRY(const isa::Target decoded, isa::target_from_elf(object.e_flags, object.abi_version, path));
  AE_TRY(const isa::Codec codec, isa::Codec::create(decoded));
  auto shared = std::make_shared<const object::CodeObject>(std::move(object));
  AE_TRY(const machine::Image image, machine::Image::create(shared, codec));
  for (const object::Kernel& kernel : shared->kernels) {
    AE_TRY(const uint64_t k, parse_number(tool, std::string_view(kernel.name).substr(1),
                                          path + ": kernel " + kernel.name, want.size() - 1));
    if (want[k].empty())
      ++tally.unsettled;
    else
      judge(want[k], run_kernel(image, kernel, input_of(batch, unsigned(k))), explanation(batch, unsigned(k), level),
            repeat_with(batch, unsigned(k), target, level), tally);
  }
  return {};
}

int fuzz_all(const Options& options) {
  std::map<isa::Processor, Tally> tallies;
  for (const isa::Processor target : options.targets) tallies.try_emplace(target);
  bool clean = for_each_batch(
      tool, options, [&](const Batch& batch, unsigned number, const std::string& folder) -> Result<void> {
        AE_CHECK(write_source(batch, folder));
        AE_TRY(const Results want, run_on_host(batch, folder));
        for (const isa::Processor target : options.targets)
          AE_CHECK(run_target(batch, folder, want, target, level_of(options, number, target), tallies.at(target)));
        return {};
      });
  for (const auto& [target, tally] : tallies) {
    say(fmt::format(
        "{}: {} agreed, {} different, {} explained, {} faults, {} not settled by the host; {} wave-instructions",
        isa::processor_name(target), tally.agreed.load(), tally.different.load(), tally.explained.load(),
        tally.faults.load(), tally.unsettled.load(), tally.instructions.load()));
    clean &= tally.different == 0 && tally.faults == 0;
  }
  return clean ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  const auto options = parse_options(tool, argc, argv);
  if (!options) {
    fmt::print(stderr, "{}\n", options.error().message);
    return 2;
  }
  return fuzz_all(*options);
}
