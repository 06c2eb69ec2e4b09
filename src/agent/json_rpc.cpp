#include "agent/json_rpc.h"

namespace asmevo::agent {
namespace {

constexpr int deepest = 64;

/// Deeper than `deepest`, by brackets outside of strings: what is no JSON at all is found by the parser.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > deepest)
      return true;
    else if (!quoted && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

bool is_id(const nlohmann::json& id) { return id.is_string() || id.is_number_integer(); }

Message malformed(int code, std::string fault, nlohmann::json id = nullptr) {
  Message message;
  message.id = std::move(id);
  message.code = code;
  message.fault = std::move(fault);
  return message;
}

Message classified(nlohmann::json&& json) {
  if (json.is_array()) return malformed(rpc::invalid_request, "batches are not part of the protocol");
  if (!json.is_object()) return malformed(rpc::invalid_request, "a message is a JSON object");
  const auto id = json.find("id");
  const bool has_id = id != json.end();
  nlohmann::json known_id = has_id && is_id(*id) ? *id : nlohmann::json();
  if (auto version = json.find("jsonrpc"); version == json.end() || *version != "2.0")
    return malformed(rpc::invalid_request, "\"jsonrpc\" must be \"2.0\"", std::move(known_id));
  const auto method = json.find("method");
  Message message;
  if (method == json.end() && (json.contains("result") || json.contains("error"))) {
    message.kind = Message::Kind::response;
    return message;
  }
  if (method == json.end() || !method->is_string())
    return malformed(rpc::invalid_request, "\"method\" must be a string", std::move(known_id));
  if (has_id && known_id.is_null()) return malformed(rpc::invalid_request, "\"id\" must be a string or a whole number");
  message.kind = has_id ? Message::Kind::request : Message::Kind::notification;
  message.method = method->get<std::string>();
  message.id = std::move(known_id);
  if (auto params = json.find("params"); params != json.end()) {
    if (!params->is_object())
      return malformed(rpc::invalid_request, "\"params\" must be an object", std::move(message.id));
    message.params = std::move(*params);
  }
  return message;
}

} // namespace

Message parse_message(std::string_view line) {
  if (line.size() > longest_message)
    return malformed(rpc::parse_error, "a message is at most " + std::to_string(longest_message) + " bytes");
  if (too_deep(line)) return malformed(rpc::parse_error, "nested too deeply");
  nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (json.is_discarded()) return malformed(rpc::parse_error, "not JSON (one message a line, in UTF-8)");
  return classified(std::move(json));
}

nlohmann::json reply(const nlohmann::json& id, nlohmann::json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

nlohmann::json error_reply(const nlohmann::json& id, int code, std::string_view message) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

nlohmann::json notification(std::string_view method, nlohmann::json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

} // namespace asmevo::agent
