// Edits of blocks of real kernels: what keeps the meaning is mostly proved and never refuted, mistakes never are
// proved. bench_prove does the same with many more.
#include "variants.h"

namespace asmevo::prove {
namespace {

struct Tally {
  size_t made = 0, proved = 0, refuted = 0;
  std::string first_refuted, proved_mistakes;
};

template <class Make> Tally tally(size_t count, uint32_t seed, Make make) {
  std::mt19937 random(seed);
  static const std::vector<Kernel> kernels = [] {
    std::mt19937 choice(1);
    return all_kernels(1500, 12, choice);
  }();
  Tally result;
  for (size_t tries = 0; result.made < count && tries < 30 * count && !kernels.empty(); ++tries) {
    const Kernel& kernel = kernels[random() % kernels.size()];
    const Block& block = kernel.blocks[random() % kernel.blocks.size()];
    std::string what;
    const std::optional<Program> candidate = make(kernel, block, random, what);
    if (!candidate) continue;
    const Proof proof = prove(*kernel.program, *candidate, {}, block.function->name);
    ++result.made;
    if (proof.holds()) ++result.proved, result.proved_mistakes += kernel.path + ": " + what + "\n";
    if (proof.outcome == Outcome::refuted && result.refuted++ == 0)
      result.first_refuted = kernel.path + ": " + proof.reason;
  }
  return result;
}

void expect_mostly_proved(const Tally& t) {
  EXPECT_GT(t.made, 20u);
  EXPECT_GE(double(t.proved), 0.95 * double(t.made)) << t.made;
  EXPECT_EQ(t.refuted, 0u) << t.first_refuted;
}

TEST(Corpus, other_orders_that_keep_every_dependence_are_proved) {
  expect_mostly_proved(
      tally(60, 11, [](const Kernel& k, const Block& b, std::mt19937& r, std::string&) { return reordered(k, b, r); }));
}

TEST(Corpus, other_registers_for_temporaries_are_proved) {
  expect_mostly_proved(
      tally(60, 12, [](const Kernel& k, const Block& b, std::mt19937& r, std::string&) { return renamed(k, b, r); }));
}

TEST(Corpus, other_waits_are_proved) {
  expect_mostly_proved(tally(
      60, 13, [](const Kernel& k, const Block& b, std::mt19937& r, std::string&) { return waits_changed(k, b, r); }));
}

TEST(Corpus, no_mistake_is_proved) {
  const Tally t = tally(80, 14, [](const Kernel& k, const Block& b, std::mt19937& r, std::string& what) {
    return mutated(k, b, r, what);
  });
  EXPECT_GT(t.made, 40u);
  EXPECT_EQ(t.proved, 0u) << t.proved_mistakes;
  EXPECT_GT(t.refuted, 0u);
}

} // namespace
} // namespace asmevo::prove
