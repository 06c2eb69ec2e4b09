#include "agent/paging.h"

#include <gtest/gtest.h>

namespace asmevo::agent {
namespace {

using nlohmann::json;

TEST(Paging, APageEndsWhenItsRowsRunOut) {
  json document;
  put_page(document, "rows", {2, 3}, 10, [](size_t i) { return json(i); });
  EXPECT_EQ(document["rows"], json({2, 3, 4}));
  EXPECT_EQ(document["next_offset"], 5);
  EXPECT_EQ(document["total"], 10);
}

TEST(Paging, TheLastPageHasNoNext) {
  json document;
  put_page(document, "rows", {8, 3}, 10, [](size_t i) { return json(i); });
  EXPECT_EQ(document["rows"], json({8, 9}));
  EXPECT_TRUE(document["next_offset"].is_null());
  put_page(document, "rows", {99, 3}, 10, [](size_t i) { return json(i); });
  EXPECT_EQ(document["rows"], json::array());
}

TEST(Paging, APageEndsWhenItsBytesRunOut) {
  json document;
  put_page(document, "rows", {0, 1000}, 1000, [](size_t) { return json(std::string(10'000, 'x')); });
  EXPECT_LT(document["rows"].size(), 6u);
  EXPECT_EQ(document["next_offset"], document["rows"].size());
}

TEST(Paging, AllPagesTogetherAreTheWholeList) {
  size_t offset = 0, seen = 0;
  while (true) {
    json document;
    put_page(document, "rows", {offset, 7}, 100, [](size_t i) { return json(i); });
    for (const json& row : document["rows"]) EXPECT_EQ(row, seen++);
    if (document["next_offset"].is_null()) break;
    offset = document["next_offset"];
  }
  EXPECT_EQ(seen, 100u);
}

TEST(Paging, TextsHaveALongestLength) {
  EXPECT_EQ(bounded("short"), "short");
  EXPECT_EQ(bounded(std::string(20, 'x'), 5), "xxxxx... (15 bytes more)");
  EXPECT_EQ(bounded("\xc3\xa4\xc3\xa4", 3), "\xc3\xa4... (2 bytes more)"); // not in the middle of a character
}

TEST(Paging, TextsHoldNoControlCharactersAndAreUtf8) {
  EXPECT_EQ(bounded("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_NO_THROW(json(bounded("\xff\xfe")).dump());
}

} // namespace
} // namespace asmevo::agent
