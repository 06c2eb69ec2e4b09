#include "agent/focus.h"

#include "agent/state_fixture.h"

#include <set>

namespace asmevo::agent {
namespace {

using testing::StateTest;

class FocusTest : public StateTest {
protected:
  /// All time of the kernel at one instruction, for one reason.
  Direction first_when(timing::Stall stall) {
    for (timing::Attribution& a : estimate.attribution) a = {};
    timing::Attribution& a = estimate.attribution[index("s_waitcnt vmcnt")];
    a.issues = 8;
    a.busy_cycles = 10;
    a.exposed_cycles[size_t(stall)] = 1000;
    view = view_code(original.program, *state.function, estimate, loaded.image->instructions(), "test");
    return foci_of(view).at(0).direction;
  }
};

TEST_F(FocusTest, TheHottestWindowComesFirst) {
  const auto foci = foci_of(view);
  EXPECT_EQ(foci.at(0).window, 0u);
  EXPECT_EQ(foci.at(0).direction, Direction::instruction_simplification); // it issues 12000 of 17000 clocks
}

TEST_F(FocusTest, TheReasonToStallChoosesTheDirection) {
  EXPECT_EQ(first_when(timing::Stall::vmcnt), Direction::latency_hiding);
  EXPECT_EQ(first_when(timing::Stall::lds_conflict), Direction::memory_access);
  EXPECT_EQ(first_when(timing::Stall::memory_throughput), Direction::memory_access);
  EXPECT_EQ(first_when(timing::Stall::dependency), Direction::dependency_reduction);
  EXPECT_EQ(first_when(timing::Stall::fetch), Direction::instruction_simplification);
}

TEST_F(FocusTest, NoPairComesTwice) {
  std::set<std::pair<size_t, Direction>> seen;
  for (const Focus& focus : foci_of(view)) EXPECT_TRUE(seen.insert({focus.window, focus.direction}).second);
  EXPECT_GT(seen.size(), 3u);
}

TEST_F(FocusTest, CodeThatIsNotExecutedHasNone) {
  for (timing::Attribution& a : estimate.attribution) a = {};
  EXPECT_TRUE(
      foci_of(view_code(original.program, *state.function, estimate, loaded.image->instructions(), "test")).empty());
}

} // namespace
} // namespace asmevo::agent
