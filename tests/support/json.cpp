#include "support/json.h"

#include <gtest/gtest.h>

using namespace asmevo;

namespace {

JsonView view(std::string_view text) {
  auto document = parse_json(text, "x.json");
  EXPECT_TRUE(document) << document.error().message;
  return JsonView(*document);
}

std::string error_of(std::string_view text) {
  auto document = parse_json(text, "x.json");
  return document ? "no error" : document.error().message;
}

} // namespace

TEST(Json, every_value_knows_where_it_begins) {
  JsonView root = view("{\n  \"a\": [1, -2.5e3,\n   {\"b/c~\": \"x\\\"y, {\"}],\n  \"d\" : null}");
  EXPECT_EQ(root.where(), "x.json:1:1");
  EXPECT_EQ(root.at("a").where(), "x.json:2:8");
  EXPECT_EQ(root.at("a").at(1).where(), "x.json:2:12");
  EXPECT_EQ(root.at("a").at(2).at("b/c~").where(), "x.json:3:13");
  EXPECT_EQ(root.at("a").at(2).where_key("b/c~"), "x.json:3:5");
  EXPECT_EQ(root.at("d").where(), "x.json:4:9");
  EXPECT_EQ(root.at("a").at(2).at("b/c~").string("it").value(), "x\"y, {");
}

TEST(Json, a_syntax_error_names_line_and_column) {
  EXPECT_TRUE(error_of("{\n  \"a\": 1,\n  \"b\": }").starts_with("x.json:3:8: "))
      << error_of("{\n  \"a\": 1,\n  \"b\": }");
  EXPECT_TRUE(error_of("[1, 2").starts_with("x.json:1:6: ")) << error_of("[1, 2");
  EXPECT_TRUE(error_of("").starts_with("x.json:1:1: "));
  EXPECT_TRUE(error_of("[1] 2").starts_with("x.json:1:5: ")) << error_of("[1] 2");
}

TEST(Json, a_repeated_key_is_an_error_at_its_second_place) {
  EXPECT_EQ(error_of("{\"a\": 1,\n \"a\": 2}"), "x.json:2:2: key \"a\" appears twice in this object");
}

TEST(Json, deep_nesting_is_an_error_and_no_crash) {
  EXPECT_NE(error_of(std::string(1'000'000, '[')).find("nested deeper than 64"), std::string::npos);
}

TEST(Json, a_value_of_the_wrong_kind_is_named_with_its_place) {
  JsonView root = view("{\"seed\": \"x\",\n \"n\": -1, \"f\": 1.5}");
  EXPECT_EQ(root.at("seed").integer("\"seed\"").error().message,
            "x.json:1:10: \"seed\" must be a whole number, not \"x\"");
  EXPECT_EQ(root.at("n").unsigned_integer("\"n\"").error().message,
            "x.json:2:7: \"n\" must be a whole number, 0 or more, not -1");
  EXPECT_FALSE(root.at("f").integer("\"f\""));
  EXPECT_EQ(root.at("n").integer("\"n\"").value(), -1);
}

TEST(Json, an_integer_beyond_64_bits_is_no_whole_number) {
  EXPECT_FALSE(view("18446744073709551616").unsigned_integer("it"));
  EXPECT_FALSE(view("9223372036854775808").integer("it"));
  EXPECT_EQ(view("18446744073709551615").unsigned_integer("it").value(), UINT64_MAX);
}

TEST(Json, an_unknown_key_is_refused_with_the_nearest_known_one) {
  JsonView root = view("{\n \"kernal\": 1}");
  EXPECT_EQ(root.expect_keys("the launch", {"kernel", "seed"}).error().message,
            "x.json:2:2: the launch has no key \"kernal\", did you mean \"kernel\"?");
  EXPECT_EQ(root.expect_keys("it", {"seed"}).error().message, "x.json:2:2: it has no key \"kernal\"; known are seed");
}
