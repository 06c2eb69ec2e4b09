#include "agent/mcp_server.h"

#include <atomic>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace asmevo::agent {
namespace {

using nlohmann::json;

/// A server with two tools at the other end of two pipes: one that answers, one that works until it is stopped.
class McpServerTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(pipe(to_server), 0);
    ASSERT_EQ(pipe(from_server), 0);
    const json object = {
        {"type", "object"}, {"properties", {{"n", {{"type", "integer"}}}}}, {"additionalProperties", false}};
    std::vector<Tool> tools;
    tools.push_back({.name = "echo",
                     .title = "Echo",
                     .description = "says it again",
                     .input = object,
                     .output = object,
                     .call = [](const json& arguments, const Progress& progress) -> Result<json> {
                       progress("one");
                       progress("two");
                       if (arguments.value("n", 0) == 13) return fail("an unlucky number");
                       return arguments;
                     }});
    tools.push_back({.name = "spin",
                     .title = "Spin",
                     .description = "works",
                     .input = object,
                     .output = object,
                     .call = [this](const json&, const Progress&) -> Result<json> {
                       spinning = true;
                       while (!stop) usleep(1000);
                       return fail("stopped");
                     }});
    server = std::make_unique<McpServer>(ServerInfo{"test", "Test", "1", "do"}, std::move(tools), stop);
    thread = std::thread([this] { status = server->serve(to_server[0], from_server[1], &signalled); });
  }
  void TearDown() override {
    close(to_server[1]);
    thread.join();
    EXPECT_TRUE(status);
    for (int fd : {to_server[0], from_server[0], from_server[1]}) close(fd);
  }

  void send(std::string_view line) {
    ASSERT_EQ(write(to_server[1], line.data(), line.size()), ssize_t(line.size()));
    ASSERT_EQ(write(to_server[1], "\n", 1), 1);
  }
  json receive() {
    std::string line;
    for (char c = 0; read(from_server[0], &c, 1) == 1 && c != '\n';) line += c;
    return json::parse(line, nullptr, false);
  }
  json ask(std::string_view line) {
    send(line);
    return receive();
  }
  json initialize(std::string_view revision = "2025-11-25") {
    return ask(fmt::format(R"({{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{}",)"
                           R"("capabilities":{{"sampling":{{}},"unheard-of":{{"x":[1]}}}},"clientInfo":{{"name":"c"}},)"
                           R"("_meta":{{"io.example/what":1}}}}}})",
                           revision));
  }

  int to_server[2]{}, from_server[2]{};
  volatile bool stop = false, signalled = false;
  std::atomic<bool> spinning = false;
  std::unique_ptr<McpServer> server;
  std::thread thread;
  Result<void> status;
};

TEST_F(McpServerTest, GivesTheRevisionThatIsAskedForOrTheNewest) {
  EXPECT_EQ(initialize("2025-06-18")["result"]["protocolVersion"], "2025-06-18");
  EXPECT_EQ(initialize()["error"]["code"], rpc::invalid_request); // once only
}

TEST_F(McpServerTest, OffersTheNewestRevisionToAClientOfAnother) {
  const json result = initialize("1999-01-01")["result"];
  EXPECT_EQ(result["protocolVersion"], "2025-11-25");
  EXPECT_TRUE(result["capabilities"].contains("tools"));
  EXPECT_EQ(result["serverInfo"]["name"], "test");
}

TEST_F(McpServerTest, AnswersPingsButNothingElseBeforeTheHandshake) {
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":1,"method":"ping"})")["result"], json::object());
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})")["error"]["code"], rpc::invalid_request);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":3,"method":"initialize","params":{}})")["error"]["code"], rpc::invalid_params);
}

TEST_F(McpServerTest, ListsToolsWithTheirSchemas) {
  initialize();
  const json tools = ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})")["result"]["tools"];
  ASSERT_EQ(tools.size(), 2u);
  EXPECT_EQ(tools[0]["inputSchema"]["type"], "object");
  EXPECT_EQ(tools[0]["outputSchema"]["type"], "object");
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"x"}})")["error"]["code"],
            rpc::invalid_params);
}

TEST_F(McpServerTest, ResultsSayTheSameAsTextAndAsStructure) {
  initialize();
  const json result =
      ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":5}}})")["result"];
  EXPECT_EQ(result["structuredContent"], json({{"n", 5}}));
  EXPECT_EQ(json::parse(result["content"][0]["text"].get<std::string>()), result["structuredContent"]);
  EXPECT_EQ(result["isError"], false);
}

TEST_F(McpServerTest, AToolThatFailsGivesAResultForTheModel) {
  initialize();
  const json result =
      ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":13}}})")["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["content"][0]["text"], "an unlucky number");
}

TEST_F(McpServerTest, WrongArgumentsAreResultsInTheNewRevision) {
  initialize();
  const json result =
      ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":"x"}}})")["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["content"][0]["text"], "n must be integer, not string");
}

TEST_F(McpServerTest, WrongArgumentsAreProtocolErrorsInTheOldRevision) {
  initialize("2025-06-18");
  EXPECT_EQ(
      ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":"x"}}})")["error"]
                                                                                                             ["code"],
      rpc::invalid_params);
}

TEST_F(McpServerTest, CallsThatAreNoneAreProtocolErrors) {
  initialize();
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}})")["error"]["message"],
            "Unknown tool: nope");
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}})")["error"]["code"], rpc::invalid_params);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":[1]}})")["error"]
                                                                                                             ["code"],
            rpc::invalid_params);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":4,"method":"resources/list"})")["error"]["code"], rpc::method_not_found);
}

TEST_F(McpServerTest, ProgressIsToldToWhoAskedForIt) {
  initialize();
  send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":"t"}}})");
  for (int n : {1, 2}) {
    const json told = receive();
    EXPECT_EQ(told["method"], "notifications/progress");
    EXPECT_EQ(told["params"]["progressToken"], "t");
    EXPECT_EQ(told["params"]["progress"], n);
  }
  EXPECT_EQ(receive()["id"], 1);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}})")["id"], 2);
}

TEST_F(McpServerTest, ACancelledCallStopsAndIsNotAnswered) {
  initialize();
  send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"spin"}})");
  send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"spin"}})");
  send(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}})");
  while (!spinning) usleep(1000);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":4,"method":"ping"})")["id"], 4); // while it runs
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"waiting"}})");
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"running"}})");
  EXPECT_EQ(receive()["id"], 3);
}

TEST_F(McpServerTest, CancellationsOfNothingAreIgnored) {
  initialize();
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}})");
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}})");
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled"})");
  send(R"({"jsonrpc":"2.0","method":"notifications/unheard-of"})");
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":1,"method":"ping"})")["id"], 1);
}

TEST_F(McpServerTest, TwoCallsUnderOneIdAreNotTaken) {
  initialize();
  send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"spin"}})");
  while (!spinning) usleep(1000);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}})")["error"]["code"],
            rpc::invalid_request);
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
}

TEST_F(McpServerTest, MalformedLinesAreAnsweredAndTheTalkGoesOn) {
  EXPECT_EQ(ask("what?")["error"]["code"], rpc::parse_error);
  send("");
  send(R"({"jsonrpc":"2.0","id":9,"result":{}})");
  EXPECT_EQ(ask(R"([])")["error"]["code"], rpc::invalid_request);
  EXPECT_EQ(initialize()["result"]["protocolVersion"], "2025-11-25");
}

TEST_F(McpServerTest, ALineWithoutEndIsRefusedOnce) {
  const std::string chunk(1 << 16, 'x');
  for (size_t sent = 0; sent <= longest_message; sent += chunk.size())
    ASSERT_EQ(write(to_server[1], chunk.data(), chunk.size()), ssize_t(chunk.size()));
  EXPECT_EQ(receive()["error"]["code"], rpc::parse_error);
  send("and its end");
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":1,"method":"ping"})")["id"], 1);
}

TEST_F(McpServerTest, WhatWasAskedBeforeTheInputEndsIsAnswered) {
  initialize();
  for (int i = 1; i <= 5; ++i)
    send(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"echo"}}}})", i));
  close(std::exchange(to_server[1], -1));
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(receive()["id"], i);
}

TEST_F(McpServerTest, ASignalEndsARunningCall) {
  initialize();
  send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"spin"}})");
  while (!spinning) usleep(1000);
  signalled = true;
}

} // namespace
} // namespace asmevo::agent
