#include "agent/line_diff.h"

#include <gtest/gtest.h>

namespace asmevo::agent {
namespace {

std::string diff(std::string_view from, std::string_view to, size_t context = 1) {
  std::string out;
  for (const DiffLine& line : line_diff(from, to, context)) out += line.sign + line.text + "|";
  return out;
}

TEST(LineDiff, EqualTextsDoNotDiffer) { EXPECT_EQ(diff("a\nb\n", "a\nb\n"), ""); }

TEST(LineDiff, ShowsChangesWithWhatIsAround) {
  EXPECT_EQ(diff("a\nb\nc\nd\n", "a\nb\nx\nd\n"), " b|-c|+x| d|");
  EXPECT_EQ(diff("a\nb\n", "a\nx\nb\n"), " a|+x| b|");
  EXPECT_EQ(diff("a\nx\nb\n", "a\nb\n"), " a|-x| b|");
}

TEST(LineDiff, KeepsCommonLinesBetweenChanges) { EXPECT_EQ(diff("a\nb\nc\n", "x\nb\ny\n", 0), "-a|+x| ...|-c|+y|"); }

TEST(LineDiff, ReplacesMiddlesThatAreTooLongToCompare) {
  std::string a, b;
  for (int i = 0; i < 5000; ++i) {
    a += "a" + std::to_string(i) + "\n";
    b += "b" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(line_diff("head\n" + a, "head\n" + b, 1).size(), 10001u);
}

TEST(LineDiff, OneOfThemMayBeEmpty) {
  EXPECT_EQ(diff("", "a\nb\n"), "+a|+b|");
  EXPECT_EQ(diff("a", ""), "-a|");
}

} // namespace
} // namespace asmevo::agent
