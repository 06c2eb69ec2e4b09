#include "agent/provider.h"

#include "agent/paging.h"

#include <array>

namespace asmevo::agent {
namespace {

using nlohmann::json;
using Read = std::expected<Completion, std::string>;

/// The member, or null: what servers send has any shape.
const json& member(const json& object, const char* key) {
  static const json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}
std::string text_of(const json& value) { return value.is_string() ? value.get<std::string>() : ""; }
int64_t count_of(const json& value) {
  return value.is_number_integer() ? std::max<int64_t>(0, value.get<int64_t>()) : 0;
}
const json& first_of(const json& list) {
  static const json null;
  return list.is_array() && !list.empty() ? list.front() : null;
}

/// The texts of a list of parts of some types.
std::string parts_text(const json& parts, std::initializer_list<std::string_view> types) {
  std::string out;
  if (!parts.is_array()) return out;
  for (const json& part : parts)
    for (std::string_view type : types)
      if (text_of(member(part, "type")) == type) out += text_of(member(part, "text"));
  return out;
}

json messages(const Conversation& conversation) {
  json list = json::array();
  for (const Turn& turn : conversation.turns)
    list.push_back({{"role", turn.by_model ? "assistant" : "user"}, {"content", turn.text}});
  return list;
}

std::vector<std::string> bearer(const std::string& key) {
  std::vector<std::string> headers;
  if (!key.empty()) headers.push_back("Authorization: Bearer " + key);
  return headers;
}

// Chat completions: what nearly every local server speaks.

/// The service itself has a new name for the limit that other servers do not know.
json chat_body(const Conversation& conversation, bool own_service) {
  const json system = {{"role", "system"}, {"content", conversation.system}};
  json list = messages(conversation);
  list.insert(list.begin(), system);
  return {{"model", conversation.model},
          {"messages", std::move(list)},
          {own_service ? "max_completion_tokens" : "max_tokens", conversation.longest_answer}};
}

Read chat_read(const std::string& body) {
  const json response = json::parse(body, nullptr, false);
  if (!response.is_object()) return std::unexpected("the answer is no JSON object");
  const json& choice = first_of(member(response, "choices"));
  const json& message = member(choice, "message");
  if (!message.is_object()) return std::unexpected("the answer has no choices[0].message");
  const json &content = member(message, "content"), &usage = member(response, "usage");
  return Completion{.text = content.is_array() ? parts_text(content, {"text"}) : text_of(content),
                    .model = text_of(member(response, "model")),
                    .input_tokens = count_of(member(usage, "prompt_tokens")),
                    .output_tokens = count_of(member(usage, "completion_tokens")),
                    .cut_off = text_of(member(choice, "finish_reason")) == "length"};
}

// Responses, streamed: an answer may take minutes, and a connection on which nothing happens is cut by someone.

json responses_body(const Conversation& conversation, bool) {
  return {{"model", conversation.model},
          {"instructions", conversation.system},
          {"input", messages(conversation)},
          {"max_output_tokens", conversation.longest_answer},
          {"stream", true},
          {"store", false}};
}

Read response_object(const json& response, std::string text) {
  std::string whole;
  if (const json& output = member(response, "output"); output.is_array())
    for (const json& item : output)
      if (text_of(member(item, "type")) == "message") whole += parts_text(member(item, "content"), {"output_text"});
  const json& usage = member(response, "usage");
  return Completion{.text = whole.empty() ? std::move(text) : std::move(whole),
                    .model = text_of(member(response, "model")),
                    .input_tokens = count_of(member(usage, "input_tokens")),
                    .output_tokens = count_of(member(usage, "output_tokens")),
                    .cut_off = text_of(member(response, "status")) == "incomplete"};
}

Read responses_read(const std::string& body) {
  if (const json whole = json::parse(body, nullptr, false); whole.is_object()) return response_object(whole, "");
  std::string text;
  for (const std::string& data : event_data(body)) {
    const json event = json::parse(data, nullptr, false);
    const std::string type = text_of(member(event, "type"));
    if (type == "response.output_text.delta") text += text_of(member(event, "delta"));
    if (type == "response.completed" || type == "response.incomplete")
      return response_object(member(event, "response"), std::move(text));
    if (type == "response.failed")
      return std::unexpected("the server failed: " +
                             bounded(text_of(member(member(member(event, "response"), "error"), "message"))));
    if (type == "error") return std::unexpected("the server failed: " + bounded(text_of(member(event, "message"))));
  }
  return std::unexpected("the stream ended before the answer was complete");
}

// Messages.

std::vector<std::string> messages_headers(const std::string& key) {
  std::vector<std::string> headers = {"anthropic-version: 2023-06-01"};
  if (!key.empty()) headers.push_back("x-api-key: " + key);
  return headers;
}

json messages_body(const Conversation& conversation, bool) {
  return {{"model", conversation.model},
          {"max_tokens", conversation.longest_answer},
          {"system", conversation.system},
          {"messages", messages(conversation)}};
}

Read messages_read(const std::string& body) {
  const json response = json::parse(body, nullptr, false);
  if (!response.is_object()) return std::unexpected("the answer is no JSON object");
  if (!member(response, "content").is_array()) return std::unexpected("the answer has no content");
  const json& usage = member(response, "usage");
  return Completion{.text = parts_text(member(response, "content"), {"text"}),
                    .model = text_of(member(response, "model")),
                    .input_tokens = count_of(member(usage, "input_tokens")) +
                                    count_of(member(usage, "cache_creation_input_tokens")) +
                                    count_of(member(usage, "cache_read_input_tokens")),
                    .output_tokens = count_of(member(usage, "output_tokens")),
                    .cut_off = text_of(member(response, "stop_reason")) == "max_tokens"};
}

constexpr std::array<Protocol, 3> rows = {{
    {"openai", "chat completions, which most local servers speak too", "https://api.openai.com/v1", "OPENAI_BASE_URL",
     "OPENAI_API_KEY", "/chat/completions", bearer, chat_body, chat_read},
    {"openai-responses", "responses, streamed", "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY",
     "/responses", bearer, responses_body, responses_read},
    {"anthropic", "messages", "https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "/v1/messages",
     messages_headers, messages_body, messages_read},
}};

} // namespace

std::span<const Protocol> protocols() { return rows; }

ServerError read_error(const HttpResponse& response) {
  const json body = json::parse(response.body, nullptr, false);
  const json& error = member(body, "error");
  std::string message = text_of(error.is_object() ? member(error, "message") : error);
  if (message.empty()) message = text_of(member(body, "message"));
  if (message.empty()) message = response.body;
  return {bounded(message, 500), text_of(member(error, "code"))};
}

std::vector<std::string> event_data(std::string_view body) {
  std::vector<std::string> events;
  std::string data;
  bool any = false;
  for (size_t end = 0; (end = body.find('\n')) != std::string_view::npos; body.remove_prefix(end + 1)) {
    std::string_view line = body.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) {
      if (any) events.push_back(std::move(data));
      data.clear();
      any = false;
    } else if (line.starts_with("data:")) {
      line.remove_prefix(5);
      if (line.starts_with(' ')) line.remove_prefix(1);
      if (any) data += '\n';
      data += line;
      any = true;
    }
  }
  return events;
}

} // namespace asmevo::agent
