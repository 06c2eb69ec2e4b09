// The machine against the instruction sets, and the tests against the machine.
#include "machine/coverage.h"
#include "tested.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

constexpr isa::Processor processors[] = {isa::Processor::gfx908, isa::Processor::gfx90a, isa::Processor::gfx942,
                                         isa::Processor::gfx950};

/// What a functional machine without graphics, trap handler or ordered dispatch cannot mean anything by.
constexpr std::string_view beyond_the_machine[] = {
    "s_rfe_b64",        "s_rfe_restore_b64",          "s_endpgm_ordered_ps_done",
    "ds_ordered_count", "v_screen_partition_4se_b32", "v_mfma_ld_scale_b32"};

/// After the last test: every instruction that the machine executes was compared by one of them. Says nothing when only
/// some tests ran.
class EveryInstructionIsTested : public testing::Environment {
  void TearDown() override {
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    if (all.test_to_run_count() != all.total_test_count() || !all.Passed()) return;
    std::map<std::string, std::string> missing; // the targets, by mnemonic
    for (const isa::Processor processor : processors) {
      const auto codec = isa::Codec::create({.processor = processor});
      ASSERT_TRUE(codec) << codec.error().message;
      for (const auto& [mnemonic, support] : coverage(*codec))
        if (support != Support::unsupported && !tested_rows().contains(find_row(mnemonic, processor)))
          missing[mnemonic] += fmt::format(" {}", isa::processor_name(processor));
    }
    for (const auto& [mnemonic, targets] : missing)
      ADD_FAILURE() << "no test compares " << mnemonic << " of" << targets;
  }
};
const auto* const registered = testing::AddGlobalTestEnvironment(new EveryInstructionIsTested);

} // namespace

TEST(Coverage, EveryInstructionOfTheTargetsExecutesButANamedFew) {
  for (const isa::Processor processor : processors) {
    const auto codec = isa::Codec::create({.processor = processor});
    ASSERT_TRUE(codec) << codec.error().message;
    const auto known = coverage(*codec);
    EXPECT_GT(known.size(), 1000u);
    for (const auto& [mnemonic, support] : known) {
      const bool beyond = std::ranges::find(beyond_the_machine, mnemonic) != std::end(beyond_the_machine);
      EXPECT_EQ(support == Support::unsupported, beyond) << mnemonic << " on " << isa::processor_name(processor);
    }
  }
}
