// How much of what keeps a block's meaning is proved, and whether anything that changes it is.
//   bench_prove [COUNT [SEED]]     so many edits of each sort, of blocks of the corpora
#include "../tests/prove/variants.h"

#include <fmt/format.h>

namespace asmevo::prove {
namespace {

struct Tally {
  size_t made = 0, proved = 0, refuted = 0;
  std::vector<double> milliseconds;
};

using Clock = std::chrono::steady_clock;

void judge(const Kernel& kernel, const Block& block, const Program& candidate, Tally& tally, std::string_view sort,
           const std::string& what, bool must_hold) {
  const auto start = Clock::now();
  const Proof proof = prove(*kernel.program, candidate, {}, block.function->name);
  tally.milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  ++tally.made;
  tally.proved += proof.holds();
  tally.refuted += proof.outcome == Outcome::refuted;
  if (proof.holds() != must_hold || (must_hold && proof.outcome == Outcome::refuted))
    fmt::print("{}: {} {}: {}: {} [{} items, {:.0f} ms]\n", kernel.path.substr(kernel.path.find_last_of('/') + 1), sort,
               what, outcome_name(proof.outcome), proof.reason, block.last - block.first, tally.milliseconds.back());
}

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void run(size_t count, uint32_t seed) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::mt19937 random(seed);
  const std::vector<Kernel> kernels = all_kernels(4000, 90, random);
  if (kernels.empty()) return;
  fmt::print("{} kernels\n", kernels.size());
  const auto any_block = [&]() -> std::pair<const Kernel*, const Block*> {
    const Kernel& kernel = kernels[random() % kernels.size()];
    return {&kernel, &kernel.blocks[random() % kernel.blocks.size()]};
  };
  using Make = std::optional<Program> (*)(const Kernel&, const Block&, std::mt19937&);
  const std::pair<const char*, Make> sorts[] = {
      {"reordered", &reordered}, {"renamed", &renamed}, {"waits", &waits_changed}};
  std::vector<double> all;
  for (const auto& [sort, make] : sorts) {
    Tally tally;
    for (size_t tries = 0; tally.made < count && tries < 50 * count; ++tries) {
      const auto [kernel, block] = any_block();
      if (const auto candidate = make(*kernel, *block, random))
        judge(*kernel, *block, *candidate, tally, sort, "", true);
    }
    all.insert(all.end(), tally.milliseconds.begin(), tally.milliseconds.end());
    fmt::print("{:10} {:4} made, {:5.1f} % proved, {} refuted, median {:.1f} ms\n", sort, tally.made,
               100.0 * double(tally.proved) / double(std::max<size_t>(1, tally.made)), tally.refuted,
               median(tally.milliseconds));
  }
  // A mutant may happen to be equivalent, so only those count that differ when both versions run from some state of the
  // region. Dropped are those that agree in all states tried, and those that cannot be run so (FLAT, buffers, MODE).
  Tally mutants, equal, not_run;
  for (size_t tries = 0; mutants.made < count && tries < 50 * count; ++tries) {
    const auto [kernel, block] = any_block();
    std::string what;
    const auto candidate = mutated(*kernel, *block, random, what);
    if (!candidate) continue;
    const Trial trial = try_runs(*kernel->program, *candidate, block->function->name, 24);
    Tally& tally = trial.difference ? mutants : trial.ran ? equal : not_run;
    judge(*kernel, *block, *candidate, tally,
          trial.difference ? "mutant"
          : trial.ran      ? "no mutant"
                           : "not run",
          what, false);
  }
  fmt::print("mutants    {:4} that differ when run, {} proved, {} refuted, median {:.1f} ms\n", mutants.made,
             mutants.proved, mutants.refuted, median(mutants.milliseconds));
  fmt::print("dropped    {:4} that agree in 24 random states ({} proved), {} that cannot be run so ({} proved)\n",
             equal.made, equal.proved, not_run.made, not_run.proved);
  fmt::print("median of all proofs {:.1f} ms\n", median(all));
}

} // namespace
} // namespace asmevo::prove

int main(int argc, char** argv) {
  const size_t count = argc > 1 ? std::stoul(argv[1]) : 500;
  asmevo::prove::run(count, argc > 2 ? static_cast<uint32_t>(std::stoul(argv[2])) : 1);
}
