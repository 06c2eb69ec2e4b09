// One POST, whole answer, with a leash.
//
// Certificates are checked, redirections are not followed (a key would go along), servers on this machine are reached
// without a proxy, and waiting can be stopped. Headers, which hold the key, never get into a message.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace asmevo::agent {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers; // "Name: value"
  std::string body;
  double timeout_seconds = 600;
  const volatile bool* stop = nullptr; // may be null
};

struct HttpResponse {
  long status = 0;
  std::string body;
  std::optional<double> retry_after; // seconds
};

struct HttpFailure {
  std::string why;
  bool stopped = false;
  bool sent = false; // the server had the request and may have worked on it
};

inline constexpr size_t longest_response = size_t{16} << 20;

std::expected<HttpResponse, HttpFailure> http_post(const HttpRequest& request);

/// Whether the URL's host is this machine.
bool is_local(const std::string& url);

} // namespace asmevo::agent
