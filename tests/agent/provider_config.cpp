#include "agent/provider_config.h"

#include "support/file.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace asmevo::agent {
namespace {

class ProviderConfig : public ::testing::Test {
protected:
  void SetUp() override {
    for (const char* name : variables) unsetenv(name);
  }
  void TearDown() override {
    for (const char* name : variables) unsetenv(name);
    std::filesystem::remove(file);
  }
  void write(const std::string& text, mode_t mode = 0600) {
    ASSERT_TRUE(write_text_file(file, text));
    ASSERT_EQ(chmod(file.c_str(), mode), 0);
  }
  Provider good(const std::string& name, const std::string& model = "m") {
    auto provider = find_provider(name, model, file);
    EXPECT_TRUE(provider) << provider.error().message;
    return provider ? *provider : Provider{};
  }
  std::string bad(const std::string& name) {
    auto provider = find_provider(name, "m", file);
    EXPECT_FALSE(provider);
    return provider ? "" : provider.error().message;
  }
  static bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

  static constexpr const char* variables[] = {"OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY",
                                              "ANTHROPIC_BASE_URL", "ASMEVO_TEST_KEY_ENV"};
  std::string file = std::filesystem::temp_directory_path() / fmt::format("asmevo-config-{}.json", getpid());
};

TEST_F(ProviderConfig, TheServicesAreKnownAndNeedAKey) {
  EXPECT_TRUE(has(bad("openai"), "set OPENAI_API_KEY"));
  EXPECT_TRUE(has(bad("anthropic"), "set ANTHROPIC_API_KEY"));
  setenv("ANTHROPIC_API_KEY", "key-of-mine", 1);
  const Provider provider = good("anthropic");
  EXPECT_EQ(provider.url, "https://api.anthropic.com/v1/messages");
  EXPECT_EQ(provider.key, "key-of-mine");
  EXPECT_TRUE(provider.own_service);
}

TEST_F(ProviderConfig, AServerOfOnesOwnNeedsNoKeyAndGetsNone) {
  write(R"({"providers": {"local": {"kind": "openai", "base_url": "http://127.0.0.1:8000/v1/"}}})");
  setenv("OPENAI_API_KEY", "key-of-the-service", 1);
  const Provider provider = good("local");
  EXPECT_EQ(provider.url, "http://127.0.0.1:8000/v1/chat/completions");
  EXPECT_EQ(provider.key, ""); // the service's key is none of its business
  EXPECT_FALSE(provider.own_service);
}

TEST_F(ProviderConfig, TheEnvironmentMayNameAServer) {
  setenv("OPENAI_BASE_URL", "http://localhost:9/v1", 1);
  EXPECT_EQ(good("openai-responses").url, "http://localhost:9/v1/responses");
}

TEST_F(ProviderConfig, AnEntryHasKeyPriceAndRate) {
  write(R"({"providers": {"openai": {"api_key_env": "ASMEVO_TEST_KEY_ENV", "requests_per_minute": 30,
            "prices": {"m": {"input": 3, "output": 15.5}}}}})");
  setenv("ASMEVO_TEST_KEY_ENV", "another-key", 1);
  const Provider provider = good("openai");
  EXPECT_EQ(provider.key, "another-key");
  EXPECT_EQ(provider.requests_per_minute, 30);
  ASSERT_TRUE(provider.price);
  EXPECT_EQ(provider.price->output, 15.5);
  EXPECT_FALSE(good("openai", "other").price);
}

TEST_F(ProviderConfig, AKeyInTheFileIsForItsOwnerAlone) {
  const std::string text = R"({"providers": {"openai": {"api_key": "key-in-the-file"}}})";
  write(text);
  EXPECT_EQ(good("openai").key, "key-in-the-file");
  write(text, 0644);
  EXPECT_TRUE(has(bad("openai"), "chmod 600"));
  EXPECT_FALSE(has(bad("openai"), "key-in-the-file"));
}

TEST_F(ProviderConfig, AKeyIsNotSentWhereOthersCanReadIt) {
  setenv("OPENAI_API_KEY", "key-of-mine", 1);
  setenv("OPENAI_BASE_URL", "http://example.org/v1", 1);
  EXPECT_TRUE(has(bad("openai"), "unencrypted"));
  setenv("OPENAI_BASE_URL", "https://user:pass@example.org/v1", 1);
  EXPECT_TRUE(has(bad("openai"), "no user or password") || has(bad("openai"), "user or password"));
  setenv("OPENAI_BASE_URL", "file:///etc/passwd", 1);
  EXPECT_TRUE(has(bad("openai"), "https://"));
  setenv("OPENAI_BASE_URL", "https://example.org/v1", 1);
  setenv("OPENAI_API_KEY", "key\r\nHost: evil", 1);
  EXPECT_TRUE(has(bad("openai"), "characters"));
}

TEST_F(ProviderConfig, WhatIsWrongInTheFileIsSaidWithItsPlace) {
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"{", ":1:"},
           {R"({"provider": {}})", "did you mean"},
           {R"({"providers": {"x": {}}})", "\"kind\""},
           {R"({"providers": {"x": {"kind": "openai", "base": 1}}})", ":1:"},
           {R"({"providers": {"x": {"kind": 1}}})", "kind"},
           {R"({"providers": {"x": {"kind": "openai", "requests_per_minute": 0}}})", "positive"},
           {R"({"providers": {"x": {"kind": "openai", "prices": {"m": {"input": 1}}}}})", "output"}}) {
    write(text);
    EXPECT_TRUE(has(bad("x"), part)) << text << ": " << bad("x");
  }
  std::filesystem::remove(file);
  EXPECT_TRUE(has(bad("x"), "no such provider; there are openai, openai-responses, anthropic"));
}

} // namespace
} // namespace asmevo::agent
