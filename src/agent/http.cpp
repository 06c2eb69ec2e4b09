#include "agent/http.h"

#include <array>
#include <curl/curl.h>
#include <memory>

namespace asmevo::agent {
namespace {

struct Transfer {
  const HttpRequest& request;
  std::string body;
  bool stopped = false, too_long = false;
};

size_t receive(char* bytes, size_t size, size_t count, void* data) {
  auto& transfer = *static_cast<Transfer*>(data);
  transfer.too_long = transfer.body.size() + size * count > longest_response;
  if (transfer.too_long) return 0;
  transfer.body.append(bytes, size * count);
  return size * count;
}

int look_around(void* data, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(data);
  transfer.stopped = transfer.request.stop && *transfer.request.stop;
  return transfer.stopped ? 1 : 0;
}

using Handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

Handle new_handle() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  return {ready == CURLE_OK ? curl_easy_init() : nullptr, curl_easy_cleanup};
}

Headers headers_of(const HttpRequest& request) {
  curl_slist* list = nullptr;
  for (const std::string& header : request.headers) list = curl_slist_append(list, header.c_str());
  list = curl_slist_append(list, "Content-Type: application/json");
  list = curl_slist_append(list, "Expect:"); // no waiting for a go-ahead
  return {list, curl_slist_free_all};
}

template <class T> T info(CURL* handle, CURLINFO what) {
  T value{};
  curl_easy_getinfo(handle, what, &value);
  return value;
}

} // namespace

std::expected<HttpResponse, HttpFailure> http_post(const HttpRequest& request) {
  const Handle handle = new_handle();
  const Headers headers = headers_of(request);
  if (!handle || !headers) return std::unexpected(HttpFailure{"libcurl cannot be initialised"});
  CURL* curl = handle.get();
  Transfer transfer{request};
  std::array<char, CURL_ERROR_SIZE> error{};
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.size()));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.c_str());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_around);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, long(request.timeout_seconds * 1000));
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error.data());
  if (is_local(request.url)) curl_easy_setopt(curl, CURLOPT_PROXY, "");
  const CURLcode code = curl_easy_perform(curl);
  if (code == CURLE_OK) {
    HttpResponse response{info<long>(curl, CURLINFO_RESPONSE_CODE), std::move(transfer.body), {}};
    if (const auto seconds = info<curl_off_t>(curl, CURLINFO_RETRY_AFTER); seconds > 0)
      response.retry_after = double(seconds);
    return response;
  }
  HttpFailure failure{.why = error[0] ? error.data() : curl_easy_strerror(code), .stopped = transfer.stopped};
  if (transfer.too_long) failure.why = "the answer is longer than " + std::to_string(longest_response) + " bytes";
  failure.sent = info<long>(curl, CURLINFO_REQUEST_SIZE) > 0;
  return std::unexpected(std::move(failure));
}

bool is_local(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), curl_url_cleanup);
  char* host = nullptr;
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return false;
  if (curl_url_get(parsed.get(), CURLUPART_HOST, &host, 0) != CURLUE_OK) return false;
  const std::string name = host;
  curl_free(host);
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

} // namespace asmevo::agent
