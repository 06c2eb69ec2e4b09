// A program that somebody else wrote, run with a leash.
//
// It may answer, hang, flood its output, fork, die, or do all of these. It gets a process group of its own, which is
// killed as a whole whatever becomes of its leader; no descriptor but its three streams; and whoever waits for it does
// so until a moment, for so many bytes, and can be stopped. It inherits the environment, since agents find their keys
// there, and nothing of the environment is ever written down.
#pragma once

#include "support/result.h"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>

namespace asmevo::agent {

class ChildProcess {
public:
  using Moment = std::chrono::steady_clock::time_point;
  struct Leash {
    Moment until;
    size_t output = 0;                   // bytes at most, from now on
    const volatile bool* stop = nullptr; // may be null
  };
  enum class Event : uint8_t { line, ended, late, too_much, stopped };

  /// Errors: "command: cannot run: why".
  static Result<ChildProcess> start(std::span<const std::string> command);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  /// Closes its input, gives it a moment to end by itself, and kills all that is left of the group.
  ~ChildProcess();

  /// To its input, written while it is waited for. What it does not read is lost.
  void say(std::string_view text) { unsaid_ += text; }
  void close_input() { closing_ = true; }
  /// A line of its output, without the line feed; `ended` when there is none to come (a last line without line feed is
  /// a line).
  Event next_line(const Leash& leash, std::string& line);
  /// All of its output until it ends.
  Event all_output(const Leash& leash, std::string& output);

  void kill_now();
  /// "ended with status 3", "was killed by signal 9", once it has ended; it is given a moment for that.
  std::string ending();
  bool succeeded(); // ended with status 0
  /// Once ending() was asked; nothing where a signal ended it or it still runs.
  std::optional<int> exit_status() const;
  /// The end of what it wrote to its standard error.
  const std::string& complaints() const { return complaints_; }

private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  Event step(const Leash& leash); // one wait; `line` where something came, `ended` where its output is closed
  void write_some();
  bool read_some(int descriptor, std::string& into);
  bool has_ended(); // not reaped: the group keeps its number
  void reap();

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  std::string unsaid_, unread_, complaints_;
  bool closing_ = false, ended_ = false;
  int status_ = -1; // of waitpid, once reaped
  size_t received_ = 0;
};

} // namespace asmevo::agent
