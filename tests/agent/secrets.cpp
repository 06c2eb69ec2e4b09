#include "agent/secrets.h"

#include "agent/transcript.h"
#include "support/file.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace asmevo::agent {
namespace {

TEST(Secrets, ValuesThatAreKnownAreRemovedWhereverTheyStand) {
  Secrets secrets;
  secrets.add("abcdefgh");
  secrets.add("abcdefghij"); // the longer one first
  EXPECT_EQ(secrets.removed_from("x abcdefghij y=abcdefgh;abcdefgh"), "x [removed] y=[removed];[removed]");
  EXPECT_EQ(secrets.removed_from("abcdefg"), "abcdefg");
}

TEST(Secrets, ShortValuesAreNone) {
  Secrets secrets;
  secrets.add("1");
  EXPECT_EQ(secrets.removed_from("11"), "11");
}

TEST(Secrets, TheEnvironmentsKeysAreKnown) {
  setenv("SOME_api_key", "value-of-a-key", 1);
  setenv("HARMLESS_SETTING", "harmless-value", 1);
  const Secrets secrets = Secrets::of_environment();
  EXPECT_EQ(secrets.removed_from("value-of-a-key harmless-value"), "[removed] harmless-value");
  unsetenv("SOME_api_key");
  unsetenv("HARMLESS_SETTING");
}

TEST(Secrets, WhatLooksLikeAKeyIsRemovedToo) {
  const Secrets secrets;
  EXPECT_EQ(secrets.removed_from("Incorrect API key provided: sk-proj-0123456789abcdef."),
            "Incorrect API key provided: [removed]");
  EXPECT_EQ(secrets.removed_from("authorization: Bearer abcdefgh12345678\n"), "authorization: [removed]\n");
  for (const char* harmless :
       {"a risk-averse choice of words", "sk-", "the bearer of news", "v_add_f32_e32 v1, v2, v3"})
    EXPECT_EQ(secrets.removed_from(harmless), harmless);
}

class TranscriptTest : public ::testing::Test {
protected:
  void TearDown() override { std::filesystem::remove(path); }
  std::string path = std::filesystem::temp_directory_path() / fmt::format("asmevo-transcript-{}.jsonl", getpid());
};

TEST_F(TranscriptTest, KeepsAccountsOverSessionsAndNoKeys) {
  Secrets secrets;
  secrets.add("secret-value");
  {
    auto transcript = Transcript::open(path, secrets);
    ASSERT_TRUE(transcript);
    EXPECT_TRUE(transcript->add({{"answer", {"a secret-value"}}, {"deep", {{"x", "secret-value"}}}}, {100, 20, 0.5}));
    EXPECT_TRUE(transcript->add({{"answer", "b"}}, {1, 2, 0.25}));
    EXPECT_EQ(transcript->spent().input_tokens, 101);
  }
  auto text = read_text_file(path);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->find("secret-value"), std::string::npos);
  EXPECT_NE(text->find("[removed]"), std::string::npos);
  ASSERT_TRUE(write_text_file(path, *text + "{\"usage\": {\"input_tok")); // as a crash leaves it
  auto again = Transcript::open(path, secrets);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->spent().input_tokens, 101);
  EXPECT_EQ(again->spent().output_tokens, 22);
  EXPECT_DOUBLE_EQ(again->spent().cost, 0.75);
}

TEST_F(TranscriptTest, WhereItCannotBeWrittenThatIsAnError) {
  auto transcript = Transcript::open("/proc/no/such/file", {});
  ASSERT_TRUE(transcript);
  EXPECT_FALSE(transcript->add({}, {}));
}

} // namespace
} // namespace asmevo::agent
