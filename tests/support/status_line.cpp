#include "support/status_line.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace asmevo {
namespace {

std::string content(std::FILE* file) {
  std::rewind(file);
  std::string out;
  for (int c; (c = std::fgetc(file)) != EOF;) out += char(c);
  return out;
}

TEST(StatusLine, WithoutATerminalThereAreFewLinesAndNoControlCodes) {
  std::FILE* file = std::tmpfile();
  {
    StatusLine line(file);
    EXPECT_FALSE(line.live());
    for (int i = 0; i < 1000; ++i) line.show(fmt::format("state {}", i));
    line.print("something lasting");
  }
  EXPECT_EQ(content(file), "state 0\nsomething lasting\nstate 999\n");
  std::fclose(file);
}

TEST(StatusLine, ColoursAreForTerminals) {
  std::FILE* file = std::tmpfile();
  EXPECT_FALSE(wants_colour(file));
  std::fclose(file);
}

TEST(StatusLine, CutsByCharactersAndNotByBytes) {
  EXPECT_EQ(cut_to_columns("1.5\u00d7 best", 4), "1.5\u00d7");
  EXPECT_EQ(cut_to_columns("short", 80), "short");
}

} // namespace
} // namespace asmevo
