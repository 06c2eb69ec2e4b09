#include "agent/json_rpc.h"

#include <gtest/gtest.h>

namespace asmevo::agent {
namespace {

using Kind = Message::Kind;

TEST(JsonRpc, TellsRequestsNotificationsAndResponsesApart) {
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":1,"method":"ping"})").kind, Kind::request);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":"a","method":"ping"})").id, "a");
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").kind, Kind::notification);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind, Kind::response);
}

TEST(JsonRpc, KeepsTheParametersOfARequest) {
  Message message = parse_message(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1]}})");
  EXPECT_EQ(message.method, "m");
  EXPECT_EQ(message.params["a"][0], 1);
}

TEST(JsonRpc, GivesEveryMalformedLineItsCode) {
  struct Row {
    std::string_view line;
    int code;
  };
  const Row rows[] = {
      {"", rpc::parse_error},
      {"hello", rpc::parse_error},
      {R"({"jsonrpc":"2.0","id":1,"method":"x")", rpc::parse_error},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", rpc::parse_error},
      {"7", rpc::invalid_request},
      {"[]", rpc::invalid_request},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", rpc::invalid_request},
      {R"({"id":1,"method":"ping"})", rpc::invalid_request},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", rpc::invalid_request},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", rpc::invalid_request},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", rpc::invalid_request},
      {R"({"jsonrpc":"2.0","id":{},"method":"ping"})", rpc::invalid_request},
      {R"({"jsonrpc":"2.0","id":1})", rpc::invalid_request},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", rpc::invalid_request},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})", rpc::invalid_request},
  };
  for (const Row& row : rows) {
    const Message message = parse_message(row.line);
    EXPECT_EQ(message.kind, Kind::malformed) << row.line;
    EXPECT_EQ(message.code, row.code) << row.line;
  }
}

TEST(JsonRpc, NamesTheIdOfAMalformedRequestWhereItCanBeRead) {
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":7})").id, 7);
  EXPECT_TRUE(parse_message(R"({"jsonrpc":"2.0","id":[7],"method":"x"})").id.is_null());
}

TEST(JsonRpc, RefusesNestingThatWouldExhaustAReader) {
  const std::string deep = R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":)" + std::string(1'000'000, '[');
  EXPECT_EQ(parse_message(deep).code, rpc::parse_error);
  const std::string quoted =
      R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":")" + std::string(1000, '[') + R"(\"[["}})";
  EXPECT_EQ(parse_message(quoted).kind, Kind::request);
}

} // namespace
} // namespace asmevo::agent
