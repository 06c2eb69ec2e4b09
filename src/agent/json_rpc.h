// JSON-RPC 2.0, as the Model Context Protocol speaks it: one message a line.
//
// What arrives was written by a program that nobody here knows. A line may be no JSON, no message, nested to exhaust a
// recursive reader, or longer than memory; each of these has an error code, and none of them ends the conversation.
// Sources: jsonrpc.org/specification; modelcontextprotocol.io/specification, "Overview" (no batches, ids are strings or
// integers and never null).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace asmevo::agent {

namespace rpc {
inline constexpr int parse_error = -32700, invalid_request = -32600, method_not_found = -32601, invalid_params = -32602,
                     internal_error = -32603, busy = -32000;
} // namespace rpc

inline constexpr size_t longest_message = size_t{4} << 20; // bytes of a line

struct Message {
  enum class Kind : uint8_t { request, notification, response, malformed };
  Kind kind = Kind::malformed;
  nlohmann::json id; // of a request; of what is malformed, where it could be read
  std::string method;
  nlohmann::json params = nlohmann::json::object();
  int code = 0;      // malformed: why
  std::string fault; // likewise
};

Message parse_message(std::string_view line);

nlohmann::json reply(const nlohmann::json& id, nlohmann::json result);
nlohmann::json error_reply(const nlohmann::json& id, int code, std::string_view message);
nlohmann::json notification(std::string_view method, nlohmann::json params);

} // namespace asmevo::agent
