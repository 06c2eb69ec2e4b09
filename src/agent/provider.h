// How language models are spoken to: three protocols, one row each.
//
// What they have in common is little: a system text, turns of a conversation, a limit for the answer; back come text, a
// count of tokens, and whether the answer was cut off. Everything else is in provider.cpp. Servers are not trusted:
// whatever comes back is an answer or a reason why it is none.
#pragma once

#include "agent/http.h"

#include <expected>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace asmevo::agent {

struct Turn {
  bool by_model = false;
  std::string text;
};

struct Conversation {
  std::string model, system;
  std::vector<Turn> turns;
  int64_t longest_answer = 0; // tokens
};

struct Completion {
  std::string text, model;
  int64_t input_tokens = 0, output_tokens = 0; // 0: not said
  bool cut_off = false;
};

struct Protocol {
  std::string_view name, summary;
  std::string_view base_url, base_url_variable, key_variable; // of the service that it is named after
  std::string_view path;                                      // behind the base URL
  std::vector<std::string> (*headers)(const std::string& key);
  nlohmann::json (*body)(const Conversation& conversation, bool own_service);
  /// Of a response with status 200. Errors: what is wrong with it.
  std::expected<Completion, std::string> (*read)(const std::string& body);
};
std::span<const Protocol> protocols();

/// What the server says is wrong, shortened; `code` is its word for it where it has one.
struct ServerError {
  std::string message, code;
};
ServerError read_error(const HttpResponse& response);

/// Server-sent events: the data of each that is complete.
std::vector<std::string> event_data(std::string_view body);

} // namespace asmevo::agent
