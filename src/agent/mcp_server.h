// The Model Context Protocol over standard input and output: who asks, what is asked, when it ends.
//
// Assistants bring their own model and ask for tools; this file is the conversation, and knows nothing of what the
// tools do. Two threads share it. One reads: it answers at once whatever needs no work (handshake, lists, pings) and
// puts calls into a queue. The other makes the calls, one after the other, since they change one state. So a
// cancellation or a ping gets through while a call runs, and the reader alone decides what is still wanted.
//
// Protocol revisions 2025-06-18 and 2025-11-25: the client names one, and gets it or the newest. Capabilities and _meta
// that are not known are left alone. Sources: modelcontextprotocol.io/specification/2025-11-25, "Lifecycle",
// "Transports", "Tools", "Progress", "Cancellation".
#pragma once

#include "agent/json_rpc.h"
#include "support/result.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace asmevo::agent {

/// Tells whoever waits for a call what it is at.
using Progress = std::function<void(std::string_view message)>;

struct Tool {
  std::string name, title, description;
  nlohmann::json input, output; // JSON schemas of an object
  bool read_only = true;        // changes nothing that a later call could see
  /// The structured result, or what was wrong with the arguments, in words for the model.
  std::function<Result<nlohmann::json>(const nlohmann::json& arguments, const Progress& progress)> call;
};

/// What a server says of itself.
struct ServerInfo {
  std::string name, title, version, instructions;
};

class McpServer {
public:
  /// `stop` is set while the call that runs is not wanted any more; the tools look at it.
  McpServer(ServerInfo info, std::vector<Tool> tools, volatile bool& stop)
      : info_(std::move(info)), tools_(std::move(tools)), stop_(stop) {}

  /// Talks until the input ends and everything that was asked is answered, until nobody reads the output any more, or
  /// until `signalled`. Errors: the input cannot be read.
  Result<void> serve(int in, int out, const volatile bool* signalled);

private:
  struct Call {
    nlohmann::json id;
    const Tool* tool = nullptr;
    nlohmann::json arguments, progress_token; // null: nobody asked for progress
  };
  /// What the handshake settled.
  enum class Phase : uint8_t { new_connection, initialized };

  Result<void> read_all(int in, const volatile bool* signalled);
  void take(std::string_view bytes);
  void receive(std::string_view line);
  void request(Message message);
  void notify(const Message& message);
  void initialize(const Message& message);
  void list_tools(const Message& message);
  void enqueue(Message message);
  void cancel(const nlohmann::json& id);
  void work();
  void make(Call call);
  nlohmann::json result_of(const Call& call);
  void send(const nlohmann::json& message);

  ServerInfo info_;
  std::vector<Tool> tools_;
  volatile bool& stop_;

  // The reader's.
  Phase phase_ = Phase::new_connection;
  bool faults_are_results_ = true; // of arguments: since 2025-11-25
  std::string line_;
  bool overlong_ = false; // the line that is being read is dropped

  std::mutex queue_mutex_;
  std::condition_variable wake_;
  std::deque<Call> queue_;
  nlohmann::json running_; // the id of the call that is being made, or null
  bool cancelled_ = false; // that one
  bool closing_ = false, idle_ = true;

  std::mutex out_mutex_;
  int out_ = -1;
  bool broken_ = false; // nobody reads
};

} // namespace asmevo::agent
