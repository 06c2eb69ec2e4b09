#include "agent/provider.h"

#include <gtest/gtest.h>

namespace asmevo::agent {
namespace {

using nlohmann::json;

const Protocol& protocol(std::string_view name) { return *std::ranges::find(protocols(), name, &Protocol::name); }
Completion read(std::string_view name, const std::string& body) {
  auto completion = protocol(name).read(body);
  EXPECT_TRUE(completion) << (completion ? "" : completion.error());
  return completion ? *completion : Completion{};
}
std::string fault(std::string_view name, const std::string& body) {
  auto completion = protocol(name).read(body);
  EXPECT_FALSE(completion) << body;
  return completion ? "" : completion.error();
}
const Conversation conversation{"m", "rules", {{false, "q"}, {true, "a"}, {false, "again"}}, 1000};

TEST(Provider, ChatHasTheSystemTextAsItsFirstMessage) {
  const json body = protocol("openai").body(conversation, false);
  EXPECT_EQ(body, json::parse(R"({"model": "m", "max_tokens": 1000, "messages": [
    {"role": "system", "content": "rules"}, {"role": "user", "content": "q"},
    {"role": "assistant", "content": "a"}, {"role": "user", "content": "again"}]})"));
  EXPECT_TRUE(protocol("openai").body(conversation, true).contains("max_completion_tokens"));
  EXPECT_EQ(protocol("openai").headers("k"), std::vector<std::string>{"Authorization: Bearer k"});
  EXPECT_TRUE(protocol("openai").headers("").empty());
}

TEST(Provider, ResponsesAreStreamedAndNotStored) {
  const json body = protocol("openai-responses").body(conversation, true);
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["store"], false);
  EXPECT_EQ(body["instructions"], "rules");
  EXPECT_EQ(body["input"].size(), 3u);
}

TEST(Provider, MessagesHaveTheSystemTextApart) {
  const json body = protocol("anthropic").body(conversation, true);
  EXPECT_EQ(body["system"], "rules");
  EXPECT_EQ(body["messages"].size(), 3u);
  EXPECT_EQ(body["max_tokens"], 1000);
  EXPECT_EQ(protocol("anthropic").headers("k"),
            (std::vector<std::string>{"anthropic-version: 2023-06-01", "x-api-key: k"}));
}

TEST(Provider, ReadsWhatChatAnswers) {
  const Completion c = read("openai", R"({"model": "m2", "choices": [{"message": {"content": "text"}, "finish_reason":
    "length"}], "usage": {"prompt_tokens": 12, "completion_tokens": 3}})");
  EXPECT_EQ(c.text, "text");
  EXPECT_EQ(c.model, "m2");
  EXPECT_EQ(c.input_tokens, 12);
  EXPECT_EQ(c.output_tokens, 3);
  EXPECT_TRUE(c.cut_off);
  EXPECT_EQ(read("openai", R"({"choices": [{"message": {"content": null}}]})").text, "");
  EXPECT_EQ(read("openai", R"({"choices": [{"message": {"content": [{"type": "text", "text": "x"}]}}]})").text, "x");
}

TEST(Provider, ReadsWhatMessagesAnswer) {
  const Completion c = read("anthropic", R"({"model": "m2", "content": [{"type": "thinking", "thinking": "hm"},
    {"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "stop_reason": "end_turn",
    "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 3}})");
  EXPECT_EQ(c.text, "ab");
  EXPECT_EQ(c.input_tokens, 12);
  EXPECT_FALSE(c.cut_off);
}

const std::string stream = R"(event: response.created
data: {"type": "response.created"}

: a comment
event: response.output_text.delta
data: {"type": "response.output_text.delta", "delta": "half "}

data: {"type": "response.output_text.delta", "delta": "whole"}

)";

TEST(Provider, ReadsAStreamToItsEnd) {
  const Completion c = read("openai-responses", stream + R"(event: response.completed
data: {"type": "response.completed", "response": {"model": "m2", "status": "completed",
data: "usage": {"input_tokens": 5, "output_tokens": 3}}}

data: [DONE]

)");
  EXPECT_EQ(c.text, "half whole");
  EXPECT_EQ(c.input_tokens, 5);
  EXPECT_EQ(c.model, "m2");
}

TEST(Provider, TheWholeTextOfAResponseCountsMoreThanItsPieces) {
  EXPECT_EQ(read("openai-responses", stream + R"(data: {"type": "response.completed", "response": {"output": [
data: {"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": "all"}]}]}}

)")
                .text,
            "all");
}

TEST(Provider, AStreamThatBreaksOffIsNoAnswer) {
  EXPECT_NE(fault("openai-responses", stream).find("ended before"), std::string::npos);
  EXPECT_NE(fault("openai-responses", stream + R"(data: {"type": "response.completed", "resp)").find("ended before"),
            std::string::npos);
  EXPECT_NE(fault("openai-responses", stream + "data: {\"type\": \"error\", \"message\": \"overloaded\"}\n\n")
                .find("overloaded"),
            std::string::npos);
  EXPECT_NE(fault("openai-responses",
                  "data: {\"type\": \"response.failed\", \"response\": {\"error\": {\"message\": \"no\"}}}\n\n")
                .find("no"),
            std::string::npos);
}

TEST(Provider, AnswersOfTheWrongShapeAreNone) {
  for (const Protocol& p : protocols())
    for (const char* body :
         {"", "null", "[]", "\"text\"", "<html>busy</html>", "{\"choices\": ", "data: {\n\n", "\xff\xfe", "[[[[[[[["})
      EXPECT_FALSE(p.read(body)) << p.name << " " << body;
  for (const char* body : {"{}", R"({"choices": []})", R"({"choices": [1]})", R"({"choices": {"0": 1}})",
                           R"({"choices": [{"message": "x"}]})"})
    EXPECT_FALSE(protocol("openai").read(body)) << body;
  for (const char* body : {"{}", R"({"content": "x"})"}) EXPECT_FALSE(protocol("anthropic").read(body)) << body;
  // Of the right shape with values of the wrong kind: nothing is thrown.
  EXPECT_EQ(
      read("openai", R"({"choices": [{"message": {"content": 7}, "finish_reason": {}}], "usage": [], "model": 1})")
          .text,
      "");
  EXPECT_EQ(read("anthropic", R"({"content": [1, {"type": 2}, {"type": "text"}], "usage": {"input_tokens": -5}})")
                .input_tokens,
            0);
}

TEST(Provider, ServersSayWhatIsWrongInSeveralWays) {
  EXPECT_EQ(read_error({429, R"({"error": {"message": "slow down", "code": "rate_limit"}})", {}}).message, "slow down");
  EXPECT_EQ(read_error({429, R"({"error": {"message": "slow down", "code": "rate_limit"}})", {}}).code, "rate_limit");
  EXPECT_EQ(read_error({400, R"({"error": "no"})", {}}).message, "no");
  EXPECT_EQ(read_error({400, R"({"message": "no"})", {}}).message, "no");
  EXPECT_LT(read_error({502, std::string(100'000, 'x'), {}}).message.size(), 600u);
}

TEST(Provider, KnowsThisMachine) {
  EXPECT_TRUE(is_local("http://127.0.0.1:8000/v1"));
  EXPECT_TRUE(is_local("http://localhost/v1"));
  EXPECT_TRUE(is_local("http://[::1]:1/"));
  EXPECT_FALSE(is_local("https://example.org/127.0.0.1"));
  EXPECT_FALSE(is_local("http://127.0.0.1.example.org/"));
  EXPECT_FALSE(is_local("nonsense"));
}

} // namespace
} // namespace asmevo::agent
