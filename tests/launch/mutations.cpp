// Launch files and captures come from anywhere: whatever is in them, reading ends with a launch or with a message that
// begins with file, line and column.
#include "launch/capture.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <regex>

using namespace asmevo;
using namespace asmevo::launch;

namespace {

constexpr std::string_view tokens[] = {"{",
                                       "}",
                                       "[",
                                       "]",
                                       ",",
                                       ":",
                                       "\"",
                                       "-1",
                                       "0",
                                       "1e99",
                                       "NaN",
                                       "null",
                                       "true",
                                       "\"\\u0",
                                       "1e-400",
                                       "\"in\"",
                                       "\"*\"",
                                       "4294967296",
                                       "18446744073709551616",
                                       "\"N/0\"",
                                       "\"(((\"",
                                       "\xff\xfe",
                                       "{\"buffer\": \"x\"}"};

std::string mutated(std::string text, std::mt19937& random) {
  for (unsigned n = 1 + random() % 3; n-- > 0 && !text.empty();) {
    const size_t at = random() % text.size(), length = std::min<size_t>(1 + random() % 12, text.size() - at);
    switch (random() % 5) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text[at] = char(random());
      break;
    case 2:
      text.insert(at, tokens[random() % std::size(tokens)]);
      break;
    case 3:
      text.replace(at, length, tokens[random() % std::size(tokens)]);
      break;
    default:
      text.insert(random() % text.size(), text.substr(at, length * 3));
    }
  }
  return text;
}

bool has_place(const std::string& message, const std::string& path) {
  if (!message.starts_with(path + ":")) return false;
  return std::regex_search(message.substr(path.size()), std::regex("^:[0-9]+:[0-9]+: ."));
}

} // namespace

TEST(Mutations, of_launch_files_are_read_or_refused_with_their_place) {
  std::mt19937 random(7);
  unsigned refused = 0;
  for (const char* name : {"matmul", "histogram", "layernorm"}) {
    const std::string path = std::string(ASMEVO_SOURCE_DIR) + "/corpus/" + name + ".json";
    const std::string good = read_text_file(path).value();
    for (int i = 0; i < 1500; ++i) {
      const std::string text = mutated(good, random);
      auto launch = parse_launch(text, "l.json");
      if (launch) continue;
      ++refused;
      ASSERT_TRUE(has_place(launch.error().message, "l.json")) << launch.error().message << "\n" << text;
    }
  }
  EXPECT_GT(refused, 2000u);
}

TEST(Mutations, of_capture_manifests_are_read_or_refused_with_their_place) {
  const std::string directory = testing::TempDir() + "mutated_capture", path = directory + "/manifest.json";
  std::filesystem::remove_all(directory);
  Capture c{.code_object = {1, 2, 3}, .kernel = "k", .kernarg = Bytes(40, 7)};
  c.regions = {{.name = "in", .address = 0x7f0000001000, .role = Role::in, .shape = {24}, .content = Bytes(24, 5)}};
  c.tolerance["in"] = {};
  ASSERT_TRUE(write_capture(directory, c));
  const std::string good = read_text_file(path).value();
  std::mt19937 random(11);
  unsigned refused = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(write_text_file(path, mutated(good, random)));
    auto launch = read_launch(directory);
    if (launch) {
      for (const Buffer& b : launch->cases[0].buffers)
        if (b.bytes() < 1 << 20) (void)initial_bytes(launch->cases[0], b, 0); // content may be refused, never more
      continue;
    }
    ++refused;
    // What the manifest names may be missing or damaged: then that file is named.
    const std::string& message = launch.error().message;
    ASSERT_TRUE(has_place(message, path) || message.starts_with(directory)) << message;
  }
  EXPECT_GT(refused, 100u);
}
