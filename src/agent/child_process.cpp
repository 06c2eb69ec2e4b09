#include "agent/child_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

extern char** environ;

namespace asmevo::agent {
namespace {

using namespace std::chrono_literals;

constexpr size_t longest_complaint = 4096;
constexpr auto heartbeat = 100ms, last_words = 2000ms;

struct Pipe {
  int ends[2] = {-1, -1}; // to read from, to write to
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (int end : ends)
      if (end >= 0) close(end);
  }
  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  int take(int end) { return std::exchange(ends[end], -1); }
};

struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

/// While it lives, writing to a pipe that nobody reads is an error and no signal.
class NoPipeSignal {
public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    const timespec now{};
    while (sigtimedwait(&pipe_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

private:
  sigset_t pipe_{}, before_{};
};

void close_end(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

void set_nonblocking(int descriptor) { fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

} // namespace

Result<ChildProcess> ChildProcess::start(std::span<const std::string> command) {
  Pipe in, out, err;
  if (!in.open() || !out.open() || !err.open()) return fail("{}: cannot run: {}", command[0], std::strerror(errno));
  SpawnSettings settings;
  posix_spawn_file_actions_adddup2(&settings.actions, in.ends[0], 0);
  posix_spawn_file_actions_adddup2(&settings.actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&settings.actions, err.ends[1], 2);
  posix_spawn_file_actions_addclosefrom_np(&settings.actions, 3);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &all);
  posix_spawnattr_setflags(&settings.attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, command[0].c_str(), &settings.actions, &settings.attributes, arguments.data(), environ);
  if (error != 0) return fail("{}: cannot run: {}", command[0], std::strerror(error));
  ChildProcess child(pid);
  child.in_ = in.take(1);
  child.out_ = out.take(0);
  child.err_ = err.take(0);
  for (int descriptor : {child.in_, child.out_, child.err_}) set_nonblocking(descriptor);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), in_(std::exchange(other.in_, -1)), out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)), unsaid_(std::move(other.unsaid_)), unread_(std::move(other.unread_)),
      complaints_(std::move(other.complaints_)), closing_(other.closing_), ended_(other.ended_), status_(other.status_),
      received_(other.received_) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  close_input();
  const Moment until = std::chrono::steady_clock::now() + last_words;
  std::string ignored;
  while (!has_ended() && std::chrono::steady_clock::now() < until) {
    if (step({until, SIZE_MAX, nullptr}) == Event::ended) std::this_thread::sleep_for(10ms);
    unread_.clear();
  }
  kill_now();
  close_end(in_);
  close_end(out_);
  close_end(err_);
}

void ChildProcess::write_some() {
  if (in_ < 0) return;
  const NoPipeSignal quiet;
  while (!unsaid_.empty()) {
    const ssize_t wrote = write(in_, unsaid_.data(), unsaid_.size());
    if (wrote > 0) {
      unsaid_.erase(0, size_t(wrote));
      continue;
    }
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) return;
    unsaid_.clear(); // nobody reads
    close_end(in_);
    return;
  }
  if (closing_) close_end(in_);
}

/// False where there is nothing more to come.
bool ChildProcess::read_some(int descriptor, std::string& into) {
  char buffer[65536];
  const ssize_t got = read(descriptor, buffer, sizeof buffer);
  if (got > 0) into.append(buffer, size_t(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

ChildProcess::Event ChildProcess::step(const Leash& leash) {
  if (leash.stop && *leash.stop) return Event::stopped;
  const auto left = leash.until - std::chrono::steady_clock::now();
  if (left <= 0ms) return Event::late;
  write_some();
  if (out_ < 0) return Event::ended;
  const bool over = has_ended(); // what it wrote is still in the pipe; what others hold open is not waited for
  pollfd streams[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}, {unsaid_.empty() ? -1 : in_, POLLOUT, 0}};
  const auto wait = over ? 0ms : std::min(heartbeat, std::chrono::ceil<std::chrono::milliseconds>(left));
  const int ready = poll(streams, 3, int(wait.count()));
  if (ready > 0 && streams[1].revents != 0 && !read_some(err_, complaints_)) close_end(err_);
  if (complaints_.size() > longest_complaint) complaints_.erase(0, complaints_.size() - longest_complaint);
  if (ready > 0 && streams[0].revents != 0) {
    const size_t before = unread_.size();
    if (!read_some(out_, unread_)) close_end(out_);
    received_ += unread_.size() - before;
    return received_ > leash.output ? Event::too_much : Event::line;
  }
  if (over && (ready <= 0 || streams[1].revents == 0)) close_end(out_);
  return Event::line;
}

ChildProcess::Event ChildProcess::next_line(const Leash& leash, std::string& line) {
  received_ = 0;
  for (size_t searched = 0;;) {
    if (const size_t end = unread_.find('\n', searched); end != std::string::npos) {
      line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return Event::line;
    }
    searched = unread_.size();
    const Event event = step(leash);
    if (event == Event::ended && !unread_.empty()) {
      line = std::exchange(unread_, {});
      return Event::line;
    }
    if (event != Event::line) return event;
  }
}

ChildProcess::Event ChildProcess::all_output(const Leash& leash, std::string& output) {
  received_ = 0;
  while (true)
    if (const Event event = step(leash); event != Event::line) {
      output = std::exchange(unread_, {});
      return event;
    }
}

bool ChildProcess::has_ended() {
  if (ended_ || pid_ < 0) return true;
  siginfo_t info{};
  const int got = waitid(P_PID, id_t(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  ended_ = (got == 0 && info.si_pid == pid_) || (got < 0 && errno == ECHILD);
  return ended_;
}

/// The group is signalled before its leader is reaped, while its number cannot belong to anybody else.
void ChildProcess::kill_now() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  reap();
}

void ChildProcess::reap() {
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string ChildProcess::ending() {
  const Moment until = std::chrono::steady_clock::now() + last_words;
  while (!has_ended() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  const bool by_itself = has_ended();
  if (err_ >= 0) read_some(err_, complaints_);
  if (complaints_.size() > longest_complaint) complaints_.erase(0, complaints_.size() - longest_complaint);
  kill_now();
  if (!by_itself) return "did not end";
  if (WIFEXITED(status_)) return fmt::format("ended with status {}", WEXITSTATUS(status_));
  return fmt::format("was killed by signal {}", WTERMSIG(status_));
}

std::optional<int> ChildProcess::exit_status() const {
  return status_ >= 0 && WIFEXITED(status_) ? std::optional(WEXITSTATUS(status_)) : std::nullopt;
}

bool ChildProcess::succeeded() {
  const std::string how = pid_ >= 0 ? ending() : "";
  return status_ >= 0 && WIFEXITED(status_) && WEXITSTATUS(status_) == 0 && how != "did not end";
}

} // namespace asmevo::agent
