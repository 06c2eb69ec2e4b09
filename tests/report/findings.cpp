#include "report/findings.h"

#include <gtest/gtest.h>

namespace asmevo::report {
namespace {

const std::vector<std::string> listing = {"one", "two", "\tload", "four", "five", "six", "seven", "use", "nine"};

TEST(CodeFrame, ShowsBothEndsWithTheirNeighboursAndWhatIsLeftOut) {
  Lint lint{"W001", "k", "", {.line = 8, .address = {}}, Spot{.line = 3, .address = {}}};
  EXPECT_EQ(code_frame(lint, listing), "       2 | two\n"
                                       "       3 |  load  <- cause\n"
                                       "       4 | four\n"
                                       "         | ...\n"
                                       "       7 | seven\n"
                                       "       8 | use  <- here\n"
                                       "       9 | nine\n");
}

TEST(CodeFrame, OfAnEndWithoutALineIsEmpty) {
  EXPECT_EQ(code_frame({"R006", "k", "", {}, {}}, listing), "");
  EXPECT_EQ(code_frame({"R006", "k", "", {.line = 99, .address = {}}, {}}, listing), "");
}

TEST(Sarif, PlacesFindingsByLineInTextAndByAddressInObjects) {
  Lint lint{"W001", "k", "missing", {.line = 8, .address = 0x40}, Spot{.line = 3, .address = 0x10}};
  const std::vector<analysis::Rule> rules = {{"H001", "hazard"}, {"W001", "wait"}};
  auto in_text = sarif("k.s", true, {lint}, rules)["runs"][0]["results"][0];
  EXPECT_EQ(in_text["ruleIndex"], 1);
  EXPECT_EQ(in_text["locations"][0]["physicalLocation"]["region"]["startLine"], 8);
  EXPECT_EQ(in_text["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 3);
  auto in_object = sarif("k.hsaco", false, {lint}, rules)["runs"][0]["results"][0];
  EXPECT_EQ(in_object["locations"][0]["physicalLocation"]["address"]["absoluteAddress"], 0x40);
  EXPECT_FALSE(in_object["locations"][0]["physicalLocation"].contains("region"));
}

} // namespace
} // namespace asmevo::report
