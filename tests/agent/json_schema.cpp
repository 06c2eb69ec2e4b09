#include "agent/json_schema.h"

#include "agent/tools/shapes.h"

#include <gtest/gtest.h>

namespace asmevo::agent {
namespace {

using nlohmann::json;

const json schema =
    shape::object({{"count", shape::count("a", 1, 10)},
                   {"name", shape::optional(shape::text("b", 4))},
                   {"kind", shape::optional(shape::choice("c", {"x", "y"}))},
                   {"rows", shape::optional(shape::list("d", shape::object({{"at", shape::count("e")}}), 1, 2))},
                   {"maybe", shape::optional(shape::nullable(shape::number("f")))}});

std::string fault(std::string_view text) { return fault_of(json::parse(text), schema, "").value_or(""); }

TEST(JsonSchema, AcceptsWhatConforms) {
  EXPECT_EQ(fault(R"({"count": 3})"), "");
  EXPECT_EQ(fault(R"({"count": 10, "name": "abcd", "kind": "y", "rows": [{"at": 0}], "maybe": null})"), "");
  EXPECT_EQ(fault(R"({"count": 1, "maybe": 0.5})"), "");
}

TEST(JsonSchema, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(fault("{}"), "count is missing");
  EXPECT_EQ(fault(R"({"count": "3"})"), "count must be integer, not string");
  EXPECT_EQ(fault(R"({"count": 3.5})"), "count must be integer, not number");
  EXPECT_EQ(fault(R"({"count": 0})"), "count must be at least 1, not 0");
  EXPECT_EQ(fault(R"({"count": 11})"), "count must be at most 10, not 11");
  EXPECT_EQ(fault(R"({"count": 18446744073709551615})"), "count must be at most 10, not 18446744073709551615");
  EXPECT_EQ(fault(R"({"count": 1, "name": "abcde"})"), "name must be at most 4 bytes, not 5");
  EXPECT_EQ(fault(R"({"count": 1, "kind": "z"})"), "kind must be one of [\"x\",\"y\"], not \"z\"");
  EXPECT_EQ(fault(R"({"count": 1, "rows": []})"), "rows must have at least 1 items");
  EXPECT_EQ(fault(R"({"count": 1, "rows": [{"at": 1}, {"at": 1}, {"at": 1}]})"),
            "rows must have at most 2 items, not 3");
  EXPECT_EQ(fault(R"({"count": 1, "rows": [{"at": 1}, {"at": -1}]})"), "rows[1].at must be at least 0, not -1");
  EXPECT_EQ(fault(R"({"count": 1, "maybe": "x"})"), "maybe must be one of [\"number\",\"null\"], not string");
}

TEST(JsonSchema, KnowsNoOtherMembers) {
  EXPECT_EQ(fault(R"({"count": 1, "tolerance": 9})").substr(0, 22), "tolerance is not known");
  EXPECT_EQ(fault(R"({"count": 1, "nam": "x"})"), "nam is not known, did you mean \"name\"?");
}

TEST(JsonSchema, FindsKeywordsThatItWouldNotCheck) {
  EXPECT_EQ(unknown_keyword(schema), "");
  EXPECT_EQ(unknown_keyword({{"type", "string"}, {"pattern", "x"}}), "pattern");
  EXPECT_EQ(unknown_keyword({{"properties", {{"a", {{"items", {{"oneOf", 1}}}}}}}}), "oneOf");
}

} // namespace
} // namespace asmevo::agent
