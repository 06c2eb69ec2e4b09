#include "search/window.h"

#include "gate/slow_kernel.h"

namespace asmevo::search {
namespace {

TEST(Range, MeetsEditsOfItsItemsAndInsertionsBeforeThem) {
  const Range range{4, 8};
  EXPECT_TRUE(range.meets({7, 9, ""}));
  EXPECT_TRUE(range.meets({4, 4, "s_nop 0"}));
  EXPECT_FALSE(range.meets({8, 8, "s_nop 0"}));
  EXPECT_FALSE(range.meets({2, 4, ""}));
}

TEST(Range, ContainsAnEditThatEndsWhereItEnds) {
  const Range range{4, 8};
  EXPECT_TRUE(range.contains({4, 8, ""}));
  EXPECT_TRUE(range.contains({8, 8, "s_nop 0"}));
  EXPECT_FALSE(range.contains({3, 5, ""}));
  EXPECT_FALSE(range.contains({7, 9, ""}));
}

class HotWindows : public gate::testing::SlowKernel {
protected:
  std::vector<HotWindow> windows_of(const recover::Program& program) {
    const auto estimate =
        device->time(reference->original(), reference->launch().cases.front(), {.draws = 1, .attribution = true});
    const auto code = reference->original().image->instructions();
    return hot_windows(program, program.functions.front(), profile::from_estimate(*estimate, code, "model"), code);
  }
};

TEST_F(HotWindows, TheDelayLoopIsTheHottestAndBeginsWithItsLabel) {
  const auto windows = windows_of(original.program);
  ASSERT_FALSE(windows.empty());
  EXPECT_EQ(original.program.items[windows[0].range.first].kind, recover::ItemKind::label);
  EXPECT_TRUE(original.program.items[windows[0].range.first + 1].text.starts_with("s_sub_u32 s8"));
}

TEST_F(HotWindows, KeysDependOnTheCodeAndNotOnNamesOfLabels) {
  const auto before = windows_of(original.program);
  recover::Program renamed = original.program, changed = original.program;
  const std::string old = original.program.items[before[0].range.first].text;
  for (recover::Item& item : renamed.items)
    if (size_t at = item.text.find(old); at != std::string::npos) item.text.replace(at, old.size(), ".Lother");
  EXPECT_EQ(windows_of(renamed)[0].key, before[0].key);
  changed.items[before[0].range.first + 1].text = "s_sub_u32 s8, s8, 2";
  EXPECT_NE(windows_of(changed)[0].key, before[0].key);
}

TEST_F(HotWindows, AnEditBelongsToTheHottestWindowThatItChanges) {
  const auto windows = windows_of(original.program);
  ASSERT_GT(windows.size(), 1u);
  const recover::Edit hot{windows[0].range.last - 1, windows[0].range.last, ""},
      cold{windows[1].range.last - 1, windows[1].range.last, ""};
  EXPECT_EQ(window_of(windows, std::vector{cold, hot}), &windows[0]);
  EXPECT_EQ(window_of(windows, std::vector{cold}), &windows[1]);
  EXPECT_EQ(window_of(windows, {}), nullptr);
}

} // namespace
} // namespace asmevo::search
