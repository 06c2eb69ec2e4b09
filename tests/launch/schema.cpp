#include "launch/launch.h"
#include "launch/npy.h"

#include "support/file.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::launch;

namespace {

constexpr std::string_view softmax = R"({
  "kernel": "softmax",
  "sizes": {"rows": 64, "columns": 1000},
  "workgroups": ["rows", 1, 1],
  "workgroup_size": 256,
  "seed": 5,
  "buffers": {
    "out": {"dtype": "f32", "shape": ["rows", "columns"], "role": "out"},
    "in": {"dtype": "f32", "shape": ["rows", "columns"], "role": "in", "fill": {"normal": [0, 2]}}
  },
  "arguments": [
    {"buffer": "out"}, {"buffer": "in"}, {"i32": "columns", "name": "stride"}, {"i32": "columns", "name": "n"},
    {"null": true}
  ],
  "tolerance": {"out": {"relative": 1e-5, "cosine": 0.999}},
  "cases": [
    {"name": "main"},
    {"name": "tail", "sizes": {"columns": 7}, "seed": 9},
    {"name": "strided", "arguments": [{"name": "n", "i32": "columns - 1"}], "buffers": {"in": {"fill": "special"}}}
  ]
})";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  auto launch = parse_launch(text, "l.json");
  return launch ? "no error" : launch.error().message;
}

int32_t integer_of(const Argument& a) {
  int32_t value;
  EXPECT_EQ(a.value.size(), 4u);
  std::memcpy(&value, a.value.data(), 4);
  return value;
}

} // namespace

TEST(LaunchFile, a_case_is_the_file_with_its_overrides_on_top) {
  auto launch = parse_launch(softmax, "l.json");
  ASSERT_TRUE(launch) << launch.error().message;
  ASSERT_EQ(launch->cases.size(), 3u);
  const Case &main = launch->cases[0], &tail = launch->cases[1], &strided = launch->cases[2];
  EXPECT_EQ(main.workgroups, (std::array<uint32_t, 3>{64, 1, 1}));
  EXPECT_EQ(main.workgroup_size, (std::array<uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(main.seed, 5u);
  EXPECT_EQ(tail.seed, 9u);
  EXPECT_EQ(strided.seed, 7u); // the file's seed + its index
  EXPECT_EQ(tail.buffer("out")->shape, (std::vector<uint64_t>{64, 7}));
  EXPECT_EQ(integer_of(tail.arguments[2]), 7);
  EXPECT_EQ(integer_of(strided.arguments[2]), 1000);
  EXPECT_EQ(integer_of(strided.arguments[3]), 999);
  EXPECT_EQ(strided.buffer("in")->fill.kind, FillKind::special);
  EXPECT_EQ(main.buffer("in")->fill.kind, FillKind::normal);
  EXPECT_EQ(main.buffer("out")->fill.kind, FillKind::poison);
  EXPECT_EQ(main.tolerance.at("out"), (Tolerance{.relative = 1e-5, .cosine = 0.999}));
}

TEST(LaunchFile, nonfinite_is_a_share_of_a_floating_point_buffer) {
  const auto fill_of = [](std::string_view fill) {
    auto launch = parse_launch(replaced(std::string(softmax), "\"special\"", fill), "l.json");
    return launch.value().cases[2].buffer("in")->fill;
  };
  EXPECT_EQ(fill_of("\"nonfinite\"").kind, FillKind::nonfinite);
  EXPECT_EQ(fill_of("\"nonfinite\"").a, 0.125);
  EXPECT_EQ(fill_of("{\"nonfinite\": 0.5}").a, 0.5);
  const std::string integers = R"("dtype": "i32", "fill": "nonfinite")";
  EXPECT_NE(error_of(replaced(std::string(softmax), R"("fill": "special")", integers)).find("i32 does not have"),
            std::string::npos);
}

TEST(LaunchFile, arguments_in_order_are_aligned_as_a_compiler_aligns_them) {
  auto launch = parse_launch(R"({"workgroups": 1, "workgroup_size": 64,
    "buffers": {"x": {"dtype": "f16", "shape": 8, "role": "inout"}},
    "arguments": [{"u8": 1}, {"i32": -1}, {"buffer": "x", "buffer_offset": 4}, {"f32": 0.5}, {"bytes": "01 02 03 04"},
                  {"u64": 18446744073709551615, "offset": 64}, {"i16": 3}]})",
                             "l.json");
  ASSERT_TRUE(launch) << launch.error().message;
  std::vector<uint32_t> offsets;
  for (const Argument& a : launch->cases[0].arguments) offsets.push_back(a.offset);
  EXPECT_EQ(offsets, (std::vector<uint32_t>{0, 4, 8, 16, 20, 64, 72}));
  EXPECT_EQ(launch->cases[0].arguments[5].value, Bytes(8, 0xff));
  EXPECT_EQ(launch->cases[0].arguments[2].buffer_offset, 4u);
}

TEST(LaunchFile, sizes_may_follow_from_each_other_in_any_order) {
  std::string text = replaced(std::string(softmax), "\"rows\": 64", "\"rows\": \"z*2\", \"z\": 32");
  auto launch = parse_launch(text, "l.json");
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->cases[0].workgroups[0], 64u);
  EXPECT_NE(error_of(replaced(std::string(softmax), "\"rows\": 64", "\"rows\": \"rows+1\"")), "no error");
}

TEST(LaunchFile, the_hash_follows_the_content_and_not_the_layout) {
  auto hash = [](const std::string& text) { return parse_launch(text, "l.json").value().hash; };
  std::string base = hash(std::string(softmax));
  EXPECT_EQ(hash(std::string(softmax) + "\n\n"), base);
  EXPECT_EQ(hash(replaced(std::string(softmax), "\"rows\": 64", "\"rows\": \"32*2\"")), base);
  EXPECT_NE(hash(replaced(std::string(softmax), "[0, 2]", "[0, 3]")), base);
  EXPECT_NE(hash(replaced(std::string(softmax), "\"seed\": 9", "\"seed\": 8")), base);
  EXPECT_NE(hash(replaced(std::string(softmax), "1e-5", "1e-4")), base);
}

TEST(LaunchFile, each_mistake_is_one_message_with_its_place) {
  struct Row {
    std::string_view from, to, message;
  };
  const Row rows[] = {
      {"\"kernel\"", "\"kernal\"", "l.json:2:3: the launch has no key \"kernal\", did you mean \"kernel\"?"},
      {"\"seed\": 5", "\"seed\": \"x\"", "l.json:6:11: \"seed\" must be a whole number, 0 or more, not \"x\""},
      {"[\"rows\", 1, 1]", "[\"row\", 1, 1]", "l.json:4:18: in \"row\": no size \"row\", did you mean \"rows\"?"},
      {"[\"rows\", 1, 1]", "[0, 1, 1]", "l.json:4:18: \"workgroups\" is 0, allowed is 1 to 2147483647"},
      {"256,", "2560,", "l.json:5:21: \"workgroup_size\" is 2560, allowed is 1 to 1024"},
      {"256,", "[64, 64],", "l.json:5:21: a workgroup of 4096 work-items, the hardware takes 1024"},
      {"\"f32\"", "\"f33\"", "l.json:8:22: buffer \"out\": no dtype \"f33\", did you mean \"f32\"?"},
      {"\"role\": \"out\"", "\"role\": \"output\"",
       "l.json:8:67: buffer \"out\": no role \"output\", did you mean \"out\"?"},
      {", \"role\": \"out\"", "", "l.json:8:12: buffer \"out\" needs \"role\""},
      {"\"normal\"", "\"norml\"", "l.json:9:80: buffer \"in\": no fill \"norml\", did you mean \"normal\"?"},
      {"[0, 2]", "[0]", "l.json:9:91: buffer \"in\": \"normal\" needs two numbers: {\"uniform\": [0, 1]}"},
      {"{\"buffer\": \"in\"}", "{\"buffer\": \"inn\"}",
       "l.json:12:24: argument 1: no buffer \"inn\", did you mean \"in\"?"},
      {"{\"buffer\": \"in\"}", "{\"buffer\": \"in\", \"offset\": 4}",
       "l.json:12:24: argument 1 (\"in\") at offset 4 overlaps argument 0 (\"out\") at offsets 0 to 7"},
      {"{\"null\": true}", "{\"i32\": 1, \"f32\": 1}", "l.json:13:5: argument 4 has both \"i32\" and \"f32\""},
      {"{\"null\": true}", "{\"i8\": 128}", "l.json:13:12: argument 4: \"i8\" is 128, allowed is -128 to 127"},
      {"{\"null\": true}", "{\"bytes\": \"0x\"}",
       "l.json:13:15: argument 4: \"bytes\" must be 1 to 4096 bytes as hexadecimal digits: \"00 01 ff\""},
      {"1e-5", "-1", "l.json:15:37: tolerance of \"out\": \"relative\" is -1, allowed is 0 to any finite number"},
      {"{\"out\": {\"rel", "{\"on\": {\"rel", "l.json:15:17: tolerance of \"on\": no such buffer"},
      {"\"name\": \"tail\"", "\"name\": \"main\"", "l.json:18:5: an earlier case is also named \"main\""},
      {"\"columns - 1\"", "\"columns - \"",
       "l.json:19:60: in \"columns - \": it ends where a number or a size was expected"},
      {"\"name\": \"n\", \"i32\": \"columns - 1\"", "\"i32\": 1",
       "l.json:19:39: a case's argument needs the \"name\" of the one it replaces"},
      {"{\"normal\": [0, 2]}", "{\"file\": \"/nonexistent/x.bin\"}",
       "l.json:9:11: buffer \"in\": /nonexistent/x.bin: No such file or directory"},
      {"\"rows\": 64", "\"rows\": 64000000000",
       "l.json:4:18: \"workgroups\" is 64000000000, allowed is 1 to 2147483647"},
      {"\"columns\": 1000", "\"columns\": 1000000000", "l.json:9:11: buffer \"in\" takes the case beyond 16 GiB"},
  };
  for (const Row& row : rows) EXPECT_EQ(error_of(replaced(std::string(softmax), row.from, row.to)), row.message);
}

TEST(LaunchFile, a_truncated_file_is_an_error_at_any_length) {
  for (size_t length = 0; length < softmax.size(); ++length)
    EXPECT_TRUE(error_of(std::string(softmax.substr(0, length))).starts_with("l.json:")) << length;
}

TEST(LaunchFile, what_a_launch_cannot_do_without_is_named) {
  EXPECT_EQ(error_of("{}"), "l.json:1:1: the launch needs \"workgroups\"");
  EXPECT_EQ(error_of("{\"workgroups\": 1}"), "l.json:1:1: the launch needs \"workgroup_size\"");
  EXPECT_EQ(error_of("{\"workgroups\": 1, \"workgroup_size\": 1}"), "l.json:1:1: the launch needs \"arguments\"");
  EXPECT_EQ(error_of("[]"), "l.json:1:1: the launch must be an object, not a list");
}

TEST(LaunchFile, a_raw_file_must_have_the_size_of_its_buffer) {
  std::string path = testing::TempDir() + "input.bin";
  ASSERT_TRUE(write_file(path, Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
  auto text = [](int n) {
    return fmt::format(R"({{"workgroups": 1, "workgroup_size": 1, "arguments": [],
      "buffers": {{"x": {{"dtype": "u8", "shape": {}, "role": "in", "fill": {{"file": "input.bin"}}}}}}}})",
                       n);
  };
  auto launch = parse_launch(text(8), testing::TempDir() + "l.json");
  ASSERT_TRUE(launch) << launch.error().message;
  const Case& c = launch->cases[0];
  EXPECT_EQ(initial_bytes(c, c.buffers[0], 0).value(), (Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
  auto wrong = parse_launch(text(9), testing::TempDir() + "l.json");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("l.json:2:24: buffer \"x\" has 9 bytes, "), std::string::npos);
}

TEST(LaunchFile, a_NumPy_array_must_have_type_and_shape_of_its_buffer) {
  std::string path = testing::TempDir() + "input.npy";
  ASSERT_TRUE(write_file(path, format_npy(DType::f16, {2, 2}, Bytes{1, 2, 3, 4, 5, 6, 7, 8})));
  auto launch_of = [](std::string_view dtype, std::string_view shape) {
    return parse_launch(fmt::format(R"({{"workgroups": 1, "workgroup_size": 1, "arguments": [],
      "buffers": {{"x": {{"dtype": "{}", "shape": {}, "role": "in", "fill": {{"npy": "input.npy"}}}}}}}})",
                                    dtype, shape),
                        testing::TempDir() + "l.json");
  };
  auto launch = launch_of("f16", "[2, 2]");
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(initial_bytes(launch->cases[0], launch->cases[0].buffers[0], 0).value(), (Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_NE(launch_of("f16", "4").error().message.find("buffer \"x\" is f16[4], "), std::string::npos);
  EXPECT_NE(launch_of("bf16", "[2, 2]").error().message.find("input.npy has f16[2,2]"), std::string::npos);
}

TEST(LaunchFile, a_grid_may_end_in_a_partial_workgroup) {
  auto launch = parse_launch(R"({"work_items": [1000, 3], "workgroup_size": [256, 2], "arguments": []})", "l.json");
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->cases[0].workgroups, (std::array<uint32_t, 3>{4, 2, 1}));
  EXPECT_EQ(launch->cases[0].work_items, (std::array<uint64_t, 3>{1000, 3, 1}));
}

TEST(LaunchFile, a_buffer_of_pointers_gets_the_addresses_of_others) {
  auto text = [](std::string_view pointers) {
    return fmt::format(R"({{"workgroups": 1, "workgroup_size": 1, "arguments": [], "buffers": {{
      "a": {{"dtype": "f32", "shape": 8, "role": "in"}},
      "table": {{"dtype": "u64", "shape": 4, "role": "in", "fill": {{"pointers": {}}}}}}}}})",
                       pointers);
  };
  auto launch = parse_launch(text(R"(["a", null, {"buffer": "a", "buffer_offset": 16}])"), "l.json");
  ASSERT_TRUE(launch) << launch.error().message;
  Bytes bytes(32);
  fill_pointers(*launch->cases[0].buffer("table"), {{"a", 0x1000}}, bytes);
  EXPECT_EQ(load_bits(DType::u64, &bytes[0]), 0x1000u);
  EXPECT_EQ(load_bits(DType::u64, &bytes[8]), 0u);
  EXPECT_EQ(load_bits(DType::u64, &bytes[16]), 0x1010u);
  EXPECT_NE(error_of(text(R"(["b"])")).find("no buffer \"b\" to point to"), std::string::npos);
  EXPECT_NE(error_of(text(R"([{"buffer": "a", "buffer_offset": 32}])")).find("is outside buffer"), std::string::npos);
  EXPECT_NE(error_of(text(R"(["a", "a", "a", "a", "a"])")).find("5 pointers need"), std::string::npos);
}
