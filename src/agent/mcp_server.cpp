#include "agent/mcp_server.h"

#include "agent/json_schema.h"
#include "support/json.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace asmevo::agent {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 2> revisions = {"2025-11-25", "2025-06-18"}; // the newest first
constexpr size_t longest_queue = 64;
constexpr int heartbeat = 200; // milliseconds between looks at `signalled`

json tool_json(const Tool& tool) {
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", tool.input},
          {"outputSchema", tool.output},
          {"annotations", {{"readOnlyHint", tool.read_only}, {"destructiveHint", false}, {"openWorldHint", false}}}};
}

json text_result(std::string text, bool error) {
  return {{"content", json::array({{{"type", "text"}, {"text", std::move(text)}}})}, {"isError", error}};
}

json progress_token(const json& params) {
  const auto meta = params.find("_meta");
  if (meta == params.end() || !meta->is_object()) return nullptr;
  const auto token = meta->find("progressToken");
  if (token == meta->end() || !(token->is_string() || token->is_number_integer())) return nullptr;
  return *token;
}

} // namespace

Result<void> McpServer::serve(int in, int out, const volatile bool* signalled) {
  out_ = out;
  std::thread worker([this] { work(); });
  Result<void> status = read_all(in, signalled);
  {
    std::unique_lock lock(queue_mutex_);
    closing_ = true;
    wake_.notify_all();
    // What was asked is answered, unless nobody waits for it.
    while (!(queue_.empty() && idle_)) {
      pollfd reader{.fd = out, .events = 0, .revents = 0};
      const bool gone = poll(&reader, 1, 0) > 0 && (reader.revents & (POLLERR | POLLHUP)) != 0;
      if (*signalled || gone || !status) {
        queue_.clear();
        stop_ = cancelled_ = true;
      }
      wake_.wait_for(lock, std::chrono::milliseconds(heartbeat));
    }
  }
  worker.join();
  return status;
}

Result<void> McpServer::read_all(int in, const volatile bool* signalled) {
  std::array<char, 65536> buffer{};
  while (!*signalled) {
    {
      std::lock_guard lock(out_mutex_);
      if (broken_) return {};
    }
    pollfd source{.fd = in, .events = POLLIN, .revents = 0};
    const int ready = poll(&source, 1, heartbeat);
    if (ready < 0 && errno != EINTR) return fail("stdin: {}", std::strerror(errno));
    if (ready <= 0) continue;
    const ssize_t got = read(in, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return fail("stdin: {}", std::strerror(errno));
    if (got == 0) break;
    take({buffer.data(), size_t(got)});
  }
  if (!*signalled && !line_.empty()) receive(std::exchange(line_, {}));
  return {};
}

void McpServer::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    if (!overlong_) line_ += bytes.substr(0, end);
    if (line_.size() > longest_message && !std::exchange(overlong_, true))
      send(error_reply(nullptr, rpc::parse_error, fmt::format("a message is at most {} bytes", longest_message)));
    if (overlong_) line_.clear();
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (!std::exchange(overlong_, false)) receive(line_);
    line_.clear();
  }
}

void McpServer::receive(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  Message message = parse_message(line);
  switch (message.kind) {
  case Message::Kind::malformed:
    return send(error_reply(message.id, message.code, message.fault));
  case Message::Kind::request:
    return request(std::move(message));
  case Message::Kind::notification:
    return notify(message);
  case Message::Kind::response:
    return; // nothing was asked of the client
  }
}

void McpServer::request(Message message) {
  if (message.method == "ping") return send(reply(message.id, json::object()));
  if (message.method == "initialize") return initialize(message);
  if (phase_ == Phase::new_connection)
    return send(error_reply(message.id, rpc::invalid_request, "the first request is \"initialize\""));
  if (message.method == "tools/list") return list_tools(message);
  if (message.method == "tools/call") return enqueue(std::move(message));
  send(
      error_reply(message.id, rpc::method_not_found, fmt::format("unknown method: {}", message.method.substr(0, 100))));
}

void McpServer::notify(const Message& message) {
  if (message.method != "notifications/cancelled") return;
  if (auto id = message.params.find("requestId"); id != message.params.end()) cancel(*id);
}

void McpServer::initialize(const Message& message) {
  if (phase_ != Phase::new_connection)
    return send(error_reply(message.id, rpc::invalid_request, "this connection is initialized already"));
  const auto asked = message.params.find("protocolVersion");
  if (asked == message.params.end() || !asked->is_string())
    return send(error_reply(message.id, rpc::invalid_params, "\"protocolVersion\" must be a string"));
  const auto known = std::ranges::find(revisions, asked->get_ref<const std::string&>());
  const std::string_view revision = known == revisions.end() ? revisions.front() : *known;
  faults_are_results_ = revision >= "2025-11-25";
  phase_ = Phase::initialized;
  send(reply(message.id, {{"protocolVersion", revision},
                          {"capabilities", {{"tools", {{"listChanged", false}}}}},
                          {"serverInfo", {{"name", info_.name}, {"title", info_.title}, {"version", info_.version}}},
                          {"instructions", info_.instructions}}));
}

void McpServer::list_tools(const Message& message) {
  if (auto cursor = message.params.find("cursor"); cursor != message.params.end() && !cursor->is_null())
    return send(error_reply(message.id, rpc::invalid_params, "no such cursor: all tools are on one page"));
  json list = json::array();
  for (const Tool& tool : tools_) list.push_back(tool_json(tool));
  send(reply(message.id, {{"tools", std::move(list)}}));
}

void McpServer::enqueue(Message message) {
  const auto refuse = [&](int code, std::string_view fault) { send(error_reply(message.id, code, fault)); };
  const auto name = message.params.find("name");
  if (name == message.params.end() || !name->is_string())
    return refuse(rpc::invalid_params, "\"name\" of the tool must be a string");
  const auto tool = std::ranges::find(tools_, name->get_ref<const std::string&>(), &Tool::name);
  if (tool == tools_.end())
    return refuse(rpc::invalid_params,
                  fmt::format("Unknown tool: {}", name->get_ref<const std::string&>().substr(0, 100)));
  json arguments = json::object();
  if (auto given = message.params.find("arguments"); given != message.params.end() && !given->is_null())
    arguments = std::move(*given);
  if (!arguments.is_object()) return refuse(rpc::invalid_params, "\"arguments\" must be an object");
  if (auto fault = fault_of(arguments, tool->input, "")) {
    if (faults_are_results_) return send(reply(message.id, text_result(*fault, true)));
    return refuse(rpc::invalid_params, *fault);
  }
  json token = progress_token(message.params);
  std::unique_lock lock(queue_mutex_);
  if (queue_.size() >= longest_queue) {
    lock.unlock();
    return refuse(rpc::busy, fmt::format("{} calls are waiting already", longest_queue));
  }
  if (message.id == running_ || std::ranges::find(queue_, message.id, &Call::id) != queue_.end()) {
    lock.unlock();
    return refuse(rpc::invalid_request, "a request with this id is not answered yet");
  }
  queue_.push_back({std::move(message.id), &*tool, std::move(arguments), std::move(token)});
  wake_.notify_all();
}

void McpServer::cancel(const json& id) {
  if (!id.is_string() && !id.is_number_integer()) return;
  std::lock_guard lock(queue_mutex_);
  if (running_ == id)
    stop_ = cancelled_ = true;
  else
    std::erase_if(queue_, [&](const Call& call) { return call.id == id; });
}

void McpServer::work() {
  std::unique_lock lock(queue_mutex_);
  while (true) {
    idle_ = queue_.empty();
    if (idle_) wake_.notify_all();
    if (idle_ && closing_) return;
    if (idle_) {
      wake_.wait(lock);
      continue;
    }
    Call call = std::move(queue_.front());
    queue_.pop_front();
    running_ = call.id;
    stop_ = cancelled_ = false;
    lock.unlock();
    make(std::move(call));
    lock.lock();
  }
}

/// The id is given free before the answer is sent: who has the answer may use it again.
void McpServer::make(Call call) {
  json result = result_of(call);
  {
    std::lock_guard lock(queue_mutex_);
    running_ = nullptr;
    if (cancelled_) return;
  }
  send(reply(call.id, std::move(result)));
}

json McpServer::result_of(const Call& call) {
  int told = 0;
  const Progress progress = [&](std::string_view text) {
    if (call.progress_token.is_null() || stop_) return;
    send(notification("notifications/progress",
                      {{"progressToken", call.progress_token}, {"progress", ++told}, {"message", text}}));
  };
  Result<json> structured = call.tool->call(call.arguments, progress);
  if (!structured) return text_result(structured.error().message, true);
  json result = text_result(write_json(*structured), false);
  result["structuredContent"] = *std::move(structured);
  return result;
}

void McpServer::send(const json& message) {
  const std::string text = write_json(message) + "\n";
  std::lock_guard lock(out_mutex_);
  for (size_t at = 0; at < text.size() && !broken_;) {
    const ssize_t wrote = write(out_, text.data() + at, text.size() - at);
    if (wrote >= 0)
      at += size_t(wrote);
    else if (errno != EINTR)
      broken_ = true;
  }
}

} // namespace asmevo::agent
